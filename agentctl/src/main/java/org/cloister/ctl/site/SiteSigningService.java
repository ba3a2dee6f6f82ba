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

/** The CA's folder as its desk works in it: held for each step alone, so that an administrator may work in it as well. */
final class SiteSigningService implements CertificateRenewal.SigningService {
    private final SiteCaFolder folder;
    private final TrustStore beliefs;

    /** @param folder closed; its key stays open */
    SiteSigningService(SiteCaFolder folder) throws IOException {
        this.folder = folder;
        RevocationLists own = RevocationLists.none();
        Optional<RevocationList> newest = folder.newestRevocationList();
        if (newest.isPresent()) {
            own = own.kept(newest.get());
        }
        TrustAnchors anchors = TrustAnchors.none().withSite(List.of(folder.key().verificationKey()));
        this.beliefs = new TrustStore(anchors, own, InstantSource.system());
    }

    /** Of relays: what the CA itself has revoked. */
    TrustStore trustStore() {
        return beliefs;
    }

    @Override
    public byte[] certify(EnrolmentRequest request, Instant now) throws IOException {
        try (SiteCaFolder held = folder.reopen()) {
            return held.registrationAuthority().answer(request, now);
        }
    }

    @Override
    public Optional<RevocationList> newestList() throws IOException {
        Optional<RevocationList> newest = folder.newestRevocationList();
        if (newest.isPresent()) {
            // An administrator may have signed one beside this desk.
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
            beliefs.addRevocationList(list);
        } catch (IdentityRefusedException e) {
            // It has ended, or the folder was set back: the desk says so when it meets the relay's.
            return;
        }
    }

    @Override
    public Optional<RevocationList> readList(byte[] signed) {
        try {
            return Optional.of(folder.parseRevocationList(signed));
        } catch (IOException e) {
            // Another anchor's, which relays hand out as well.
            return Optional.empty();
        }
    }
}
