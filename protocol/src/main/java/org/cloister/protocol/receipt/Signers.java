package org.cloister.protocol.receipt;

import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.Role;

/**
 * Who signed what is in a receipt, as its chains say. Owners come and go while receipts stay, so a chain may end in an owner
 * of any of the project's documents; and certificates live for a day, so it may have ended since.
 */
final class Signers {
    private final List<Anchors> anchors;
    private final Findings findings;

    private Signers(List<Anchors> anchors, Findings findings) {
        this.anchors = List.copyOf(anchors);
        this.findings = findings;
    }

    static Signers of(ProjectHistory project, Collection<VerificationKey> site, Findings findings) throws IOException {
        List<Anchors> anchors = new ArrayList<>();
        List<byte[]> documents = project.envelopes();
        for (int number = documents.size(); number > 0; number--) {
            anchors.add(Anchors.none().withSite(site).withProject(ProjectHistory.of(documents.subList(0, number))));
        }
        return new Signers(anchors, findings);
    }

    /** @param times at one of which the whole chain must hold: those that its holder and the receipt's signer claim */
    Optional<Identity> verify(String place, List<Binary> chain, Role role, List<Instant> times) {
        String refusal = "no chain";
        try {
            Chain parsed = Chain.parse(Binary.bytes(chain));
            for (Anchors each : anchors) {
                for (Instant time : times) {
                    try {
                        return Optional.of(parsed.verifyUnlisted(List.of(role), each, time));
                    } catch (IdentityRefused e) {
                        refusal = String.valueOf(e.getMessage());
                    }
                }
            }
        } catch (IdentityRefused e) {
            refusal = String.valueOf(e.getMessage());
        }
        findings.wrong(place, refusal);
        return Optional.empty();
    }
}
