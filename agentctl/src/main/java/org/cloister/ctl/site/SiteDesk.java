package org.cloister.ctl.site;

import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.EnrolmentRequest;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.RevocationList;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.link.RenewalDesk;

/** The CA's folder as its desk works in it: held for each step alone, so that an administrator may work in it as well. */
final class SiteDesk implements RenewalDesk.Office {
    private final SiteFolder folder;
    private final Beliefs beliefs;

    /** @param folder closed; its key stays open */
    SiteDesk(SiteFolder folder) throws IOException {
        this.folder = folder;
        RevocationLists own = RevocationLists.none();
        Optional<RevocationList> newest = folder.newest();
        if (newest.isPresent()) {
            own = own.kept(newest.get());
        }
        Anchors anchors = Anchors.none().withSite(List.of(folder.key().verificationKey()));
        this.beliefs = new Beliefs(anchors, own, InstantSource.system());
    }

    /** Of relays: what the CA itself has revoked. */
    Beliefs beliefs() {
        return beliefs;
    }

    @Override
    public byte[] certify(EnrolmentRequest request, Instant now) throws IOException {
        try (SiteFolder held = folder.again()) {
            return held.desk().answer(request, now);
        }
    }

    @Override
    public Optional<RevocationList> newest() throws IOException {
        Optional<RevocationList> newest = folder.newest();
        if (newest.isPresent()) {
            // An administrator may have signed one beside this desk.
            believe(newest.get());
        }
        return newest;
    }

    @Override
    public boolean hasUnlisted(Instant now) throws IOException {
        try (SiteFolder held = folder.again()) {
            return held.hasUnlisted(now);
        }
    }

    @Override
    public RevocationList sign(Instant now) throws IOException {
        try (SiteFolder held = folder.again()) {
            RevocationList list = held.list(now);
            believe(list);
            return list;
        }
    }

    private void believe(RevocationList list) {
        try {
            beliefs.take(list);
        } catch (IdentityRefused e) {
            // It has ended, or the folder was set back: the desk says so when it meets the relay's.
            return;
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
}
