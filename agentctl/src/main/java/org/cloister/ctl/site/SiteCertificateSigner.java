package org.cloister.ctl.site;

import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.cloister.ctl.authority.CertificateRenewal;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;

/**
 * Signing operations on the CA's folder for the registration authority. It holds the folder's lock only during each
 * operation, so that an administrator can work in the folder too.
 */
final class SiteCertificateSigner implements CertificateRenewal.Signer {
    private final SiteCaFolder folder;
    private final TrustStore trustStore;

    /**
     * Creates the service.
     *
     * @param folder a closed folder whose key is still open
     */
    SiteCertificateSigner(SiteCaFolder folder) throws IOException {
        this.folder = folder;
        RevocationLists own = RevocationLists.none();
        Optional<RevocationList> newest = folder.newestRevocationList();
        if (newest.isPresent()) {
            own = own.kept(newest.get());
        }
        TrustAnchors anchors = TrustAnchors.none().withSite(List.of(folder.key().verificationKey()));
        this.trustStore = new TrustStore(anchors, own, InstantSource.system());
    }

    /** Returns the trust store for relays, with the revocations of the CA itself. */
    TrustStore trustStore() {
        return trustStore;
    }

    @Override
    public byte[] certify(EnrolmentRequest request, Instant now) throws IOException {
        try (SiteCaFolder held = folder.reopen()) {
            return held.registrationAuthority().renew(request, now);
        }
    }

    @Override
    public Optional<RevocationList> newestList() throws IOException {
        Optional<RevocationList> newest = folder.newestRevocationList();
        if (newest.isPresent()) {
            // An administrator may have signed one while this process runs.
            believe(newest.get());
        }
        return newest;
    }

    @Override
    public boolean hasUnlistedRevocations(Instant now) throws IOException {
        try (SiteCaFolder held = folder.reopen()) {
            return held.hasUnlistedRevocations(now);
        }
    }

    @Override
    public RevocationList signList(Instant now) throws IOException {
        try (SiteCaFolder held = folder.reopen()) {
            RevocationList list = held.signRevocationList(now);
            believe(list);
            return list;
        }
    }

    private void believe(RevocationList list) {
        try {
            trustStore.addRevocationList(list);
        } catch (IdentityRefusedException e) {
            // The list has expired, or the folder was set back: the registration authority reports that when it
            // receives the relay's list.
            return;
        }
    }

    @Override
    public Optional<RevocationList> readList(byte[] signed) {
        try {
            return Optional.of(folder.parseRevocationList(signed));
        } catch (IOException e) {
            // The list of another issuer, which relays send as well.
            return Optional.empty();
        }
    }
}
