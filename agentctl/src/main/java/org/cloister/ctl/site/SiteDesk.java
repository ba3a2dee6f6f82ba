package org.cloister.ctl.site;

import java.io.IOException;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.RenewalDesk;
import org.cloister.protocol.link.Trust;

/** The CA's folder as its desk works in it: held for each step alone, so that an administrator may work in it as well. */
final class SiteDesk implements RenewalDesk.Office, Trust {
    private final SiteFolder folder;

    /** @param folder closed; its key stays open */
    SiteDesk(SiteFolder folder) {
        this.folder = folder;
    }

    @Override
    public byte[] certify(EnrolmentRequest request, Instant now) throws IOException {
        try (SiteFolder held = folder.again()) {
            return held.desk().answer(request, now);
        }
    }

    @Override
    public Optional<RevocationList> newest() throws IOException {
        return folder.newest();
    }

    private RevocationList newestOrFail() throws IOException {
        return newest().orElseThrow(() -> new IOException(folder.listFile() + ": no such file"));
    }

    @Override
    public RevocationList sign(Instant now) throws IOException {
        try (SiteFolder held = folder.again()) {
            return held.list(now);
        }
    }

    @Override
    public Optional<RevocationList> read(byte[] signed) {
        try {
            return Optional.of(folder.read(signed));
        } catch (IOException e) {
            // Another anchor's, which relays hand out as well.
            return Optional.empty();
        }
    }

    /** Relays of this site that are not revoked. */
    @Override
    public Name verify(List<X509Certificate> chain) throws CertificateException {
        Instant now = Instant.now();
        try {
            Anchors anchors = Anchors.none().withSite(List.of(folder.key().verificationKey()));
            RevocationLists lists = RevocationLists.none().with(newestOrFail(), now);
            return Chain.of(chain)
                    .verify(Set.of(Role.RELAY), anchors, lists, now)
                    .name();
        } catch (IdentityRefused e) {
            throw new CertificateException(e.getMessage(), e);
        } catch (IOException e) {
            throw new CertificateException("revocation list: " + e.getMessage(), e);
        }
    }
}
