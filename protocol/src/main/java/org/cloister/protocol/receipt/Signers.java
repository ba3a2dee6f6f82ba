package org.cloister.protocol.receipt;

import java.io.IOException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.PastAnchors;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;

/** Who signed what is in a receipt, as its chains say. */
final class Signers {
    private final PastAnchors anchors;
    private final Findings findings;

    private Signers(PastAnchors anchors, Findings findings) {
        this.anchors = anchors;
        this.findings = findings;
    }

    static Signers of(ProjectHistory project, Collection<VerificationKey> site, Findings findings) throws IOException {
        return new Signers(PastAnchors.of(project, site), findings);
    }

    /** @param times at one of which the whole chain must hold: those that its holder and the receipt's signer claim */
    Optional<Identity> verify(String place, List<Binary> chain, Role role, List<Instant> times) {
        try {
            return Optional.of(anchors.verify(Chain.parse(Binary.bytes(chain)), role, times));
        } catch (IdentityRefused e) {
            findings.wrong(place, String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }
}
