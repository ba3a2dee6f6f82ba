package org.cloister.relay.ticket;

import com.google.protobuf.ByteString;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Role;
import org.cloister.relay.state.StateException;
import org.cloister.relay.state.TicketRow;
import org.cloister.relay.state.Transaction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Who signed tickets and openings, and whether that still counts. */
final class Signers {
    private static final Logger LOG = LoggerFactory.getLogger(Signers.class);

    private static final Set<Role> SIGNING = Set.of(Role.CONTROLLER, Role.OPENER);

    private final Surroundings around;

    Signers(Surroundings around) {
        this.around = around;
    }

    /**
     * As it was believed when the ticket came, or when newer certificates took the place of those that came with it:
     * certificates are short, and a ticket may wait for days.
     */
    Optional<Identity> of(Transaction transaction, TicketRow row) throws StateException {
        List<byte[]> chain = Papers.read(transaction.tickets().chain(row.id()).orElseThrow()).stream()
                .map(ByteString::toByteArray)
                .toList();
        try {
            Chain kept = Chain.parse(chain);
            Instant accepted = row.request().accepted();
            Instant believed = kept.from().isAfter(accepted) ? kept.from() : accepted;
            return Optional.of(kept.verifyUnlisted(SIGNING, around.beliefs().anchors(), believed));
        } catch (IdentityRefused e) {
            LOG.warn("signer not believed ticket={} reason=\"{}\"", row.id(), e.getMessage());
            return Optional.empty();
        }
    }

    /** Whose revocation list decides on a chain now; empty for one that does not hold now. */
    Optional<VerificationKey> anchor(List<ByteString> chain) {
        try {
            Chain shown =
                    Chain.parse(chain.stream().map(ByteString::toByteArray).toList());
            return Optional.of(around.beliefs().verifyUnlisted(shown, SIGNING).anchor());
        } catch (IdentityRefused e) {
            return Optional.empty();
        }
    }

    /** A certificate that has ended since takes nothing back; one that is revoked does, and so does the site. */
    boolean isBelieved(Optional<Identity> signed) {
        if (signed.isEmpty()) {
            return false;
        }
        Identity signer = signed.get();
        return around.approval(signer.name().project()).isPresent()
                && around.beliefs().anchors().of(signer.name().project()).contains(signer.anchor())
                && around.beliefs().lists().all().stream()
                        .noneMatch(list -> list.anchor().equals(signer.anchor())
                                && list.serials().contains(signer.serial()));
    }
}
