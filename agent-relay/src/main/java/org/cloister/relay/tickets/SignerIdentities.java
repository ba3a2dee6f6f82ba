package org.cloister.relay.tickets;

import com.google.protobuf.ByteString;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.relay.state.DeliveredDocuments;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.cloister.relay.state.TicketRow;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Determines who signed tickets and openings, and whether the signer is still trusted. */
final class SignerIdentities {
    private static final Logger LOG = LoggerFactory.getLogger(SignerIdentities.class);

    private static final Set<CertificateRole> SIGNING = Set.of(CertificateRole.CONTROLLER, CertificateRole.OPENER);

    private final DeliveredDocuments documents;

    SignerIdentities(DeliveredDocuments documents) {
        this.documents = documents;
    }

    /**
     * Returns the signer as verified at the time when the ticket was accepted, or when newer certificates replaced
     * those that came with it: certificates are short-lived, and a ticket may wait for days.
     */
    Optional<CertifiedIdentity> of(RelayTransaction transaction, TicketRow row) throws RelayDatabaseException {
        List<byte[]> chain = TicketRecords.decodeChain(
                        transaction.tickets().chain(row.id()).orElseThrow())
                .stream()
                .map(ByteString::toByteArray)
                .toList();
        try {
            CertificateChain stored = CertificateChain.parse(chain);
            Instant accepted = row.request().accepted();
            Instant verifiedAt = stored.from().isAfter(accepted) ? stored.from() : accepted;
            return Optional.of(
                    stored.verifyUnlisted(SIGNING, documents.trustStore().anchors(), verifiedAt));
        } catch (IdentityRefusedException e) {
            LOG.warn("signer no longer trusted ticket={} reason=\"{}\"", row.id(), e.getMessage());
            return Optional.empty();
        }
    }

    /** Returns the issuer whose revocation list applies to a chain; empty for a chain that is not valid now. */
    Optional<VerificationKey> anchor(List<ByteString> chain) {
        try {
            CertificateChain parsed = CertificateChain.parse(
                    chain.stream().map(ByteString::toByteArray).toList());
            return Optional.of(
                    documents.trustStore().verifyUnlisted(parsed, SIGNING).anchor());
        } catch (IdentityRefusedException e) {
            return Optional.empty();
        }
    }

    /**
     * Returns whether the signer is still trusted. The expiry of a certificate does not end a ticket; revocation and
     * the end of the site's approval do.
     */
    boolean isTrusted(Optional<CertifiedIdentity> signed) {
        if (signed.isEmpty()) {
            return false;
        }
        CertifiedIdentity signer = signed.get();
        return documents.approval(signer.name().project()).isPresent()
                && documents.trustStore().anchors().of(signer.name().project()).contains(signer.anchor())
                && documents.trustStore().lists().all().stream()
                        .noneMatch(list -> list.anchor().equals(signer.anchor())
                                && list.serials().contains(signer.serial()));
    }
}
