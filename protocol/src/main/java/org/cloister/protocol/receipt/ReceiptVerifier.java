package org.cloister.protocol.receipt;

import java.io.IOException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.audit.AuditHead;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.SignedTicket;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketRefusedException;

/**
 * Verifies a receipt from the receipt and the keys that the caller trusts, without a network or a clock. It continues
 * after a failure with all that it can still verify, and reports all findings.
 */
public final class ReceiptVerifier {
    private final Receipt receipt;
    private final ReceiptSigners signers;
    private final boolean hasSite;
    private final ReceiptFindings findings;

    private ReceiptVerifier(Receipt receipt, ReceiptSigners signers, boolean hasSite, ReceiptFindings findings) {
        this.receipt = receipt;
        this.signers = signers;
        this.hasSite = hasSite;
        this.findings = findings;
    }

    /**
     * Verifies a receipt.
     *
     * @param project its documents; if empty, those that the receipt carries, which prove the project's id but not its
     *     owners' identity
     * @param site keys of the site's CA, of all relevant times; if empty, relay and hosts cannot be verified
     * @throws MalformedException if it is not a receipt
     */
    public static ReceiptVerification verify(
            byte[] envelope, Optional<ProjectHistory> project, Collection<VerificationKey> site) throws IOException {
        ReceiptFindings findings = new ReceiptFindings();
        Receipt claimed = read(envelope);
        Optional<ProjectHistory> history = project.isPresent() ? project : carried(claimed, findings);
        if (history.isEmpty()) {
            findings.unknown("project", "the receipt carries no documents; give the project's");
            return new ReceiptVerification(claimed, findings.all());
        }
        ReceiptSigners signers = ReceiptSigners.of(history.get(), site, findings);
        if (!history.get().id().equals(claimed.project())) {
            findings.wrong("project", "want " + history.get().id() + ", have " + claimed.project());
            return new ReceiptVerification(claimed, findings.all());
        }
        Optional<CertifiedIdentity> controller = signers.verify(
                "controller", claimed.controller(), CertificateRole.CONTROLLER, List.of(claimed.issued()));
        Optional<Receipt> signed = controller.flatMap(
                identity -> findings.signed("receipt", envelope, Receipt.TYPE, identity.key(), Receipt::parse));
        if (controller.isEmpty() || signed.isEmpty()) {
            return new ReceiptVerification(claimed, findings.all());
        }
        findings.addConfirmed("receipt", "signed by " + controller.get().name() + " of this project");
        new ReceiptVerifier(signed.get(), signers, !site.isEmpty(), findings).verifyAll(controller.get());
        return new ReceiptVerification(signed.get(), findings.all());
    }

    /**
     * Parses a receipt for display; nothing in it is verified.
     *
     * @throws MalformedException if it is not a receipt
     */
    public static Receipt read(byte[] envelope) throws MalformedException {
        return Receipt.parse(DsseEnvelope.parse(envelope, Receipt.MAX_ENVELOPE).unverifiedPayload());
    }

    private static Optional<ProjectHistory> carried(Receipt claimed, ReceiptFindings findings) {
        if (claimed.documents().isEmpty()) {
            return Optional.empty();
        }
        try {
            ProjectHistory history = ProjectHistory.of(ReceiptBytes.bytes(claimed.documents()));
            findings.claim("project", "by the documents in the receipt: compare its id, " + history.id());
            return Optional.of(history);
        } catch (IOException e) {
            findings.wrong("project", String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }

    private void verifyAll(CertifiedIdentity controller) {
        Optional<SignedTicket> ticket = verifyTicket(controller);
        if (hasSite) {
            Optional<Instant> allocated = receipt.allocation().flatMap(bytes -> claimedTime(bytes.bytes()));
            signers.verify(
                            "relay",
                            receipt.relay(),
                            CertificateRole.RELAY,
                            List.of(receipt.issued(), allocated.orElse(receipt.issued())))
                    .ifPresent(relay -> verifySite(ticket, relay));
        } else {
            findings.unknown("site", "relay and hosts cannot be verified; give the certificate of the site's CA");
        }
        new ReceiptCompleteness(receipt.end(), findings).require(receipt);
        ticket.ifPresent(signed -> new TimeOrderCheck(findings, "times")
                .then("ticket", signed.ticket().issued())
                .then("end", receipt.ended())
                .then("receipt", receipt.issued()));
        findings.claim("end", receipt.end() + " at " + receipt.ended() + ", as the controlling VM says");
        receipt.policy()
                .ifPresent(hash -> findings.claim("policy", hash + ": compare with that of the owners' document"));
        findings.claim("times", "those of the signers' own clocks; whether a certificate was revoked is not said here");
    }

    private Optional<SignedTicket> verifyTicket(CertifiedIdentity controller) {
        Optional<CertifiedIdentity> signer = Optional.of(controller);
        try {
            byte[] bytes = receipt.request().bytes();
            if (!receipt.requester().isEmpty()) {
                Instant issued = Ticket.parse(
                                DsseEnvelope.parse(bytes, Ticket.MAX_BYTES).unverifiedPayload())
                        .issued();
                signer = signers.verify(
                        "ticket", receipt.requester(), CertificateRole.CONTROLLER, List.of(receipt.issued(), issued));
            }
            if (signer.isEmpty()) {
                return Optional.empty();
            }
            SignedTicket signed = SignedTicket.read(bytes, signer.get());
            findings.equal(
                    "ticket", "project", receipt.project(), signed.ticket().project());
            findings.equal("ticket", "id", receipt.ticket(), signed.ticket().id());
            findings.equal("ticket", "digest", receipt.digest(), signed.digest());
            findings.addConfirmed(
                    "ticket",
                    signed.ticket().id() + ", signed by " + signed.signer().name());
            return Optional.of(signed);
        } catch (IOException e) {
            findings.wrong("ticket", String.valueOf(e.getMessage()));
            return Optional.empty();
        }
    }

    private void verifySite(Optional<SignedTicket> ticket, CertifiedIdentity relay) {
        verifyHead(relay);
        receipt.allocation().ifPresent(bytes -> {
            try {
                verifyAllocation(AllocationVerifier.read(bytes.bytes(), relay), ticket);
            } catch (TicketRefusedException e) {
                findings.wrong("allocation", String.valueOf(e.getMessage()));
            }
        });
    }

    private void verifyHead(CertifiedIdentity relay) {
        String at = "audit";
        try {
            DsseEnvelope envelope = DsseEnvelope.parse(receipt.audit().bytes(), AuditHead.MAX_BYTES);
            AuditHead head = AuditHead.verify(envelope, List.of(relay.key())).head();
            findings.equal(at, "relay", relay.name().toString(), head.relay());
            new TimeOrderCheck(findings, at).then("head", head.time()).then("receipt", receipt.issued());
            findings.addConfirmed(at, "a head signed by " + relay.name());
        } catch (IOException e) {
            findings.wrong(at, String.valueOf(e.getMessage()));
        }
    }

    private void verifyAllocation(Allocation allocation, Optional<SignedTicket> ticket) {
        String at = "allocation";
        findings.equal(at, "project", receipt.project(), allocation.project());
        findings.equal(at, "ticket", receipt.ticket(), allocation.ticket());
        findings.equal(at, "ticket's digest", receipt.digest(), allocation.digest());
        String job = receipt.globalJob().map(Object::toString).orElse("none");
        findings.equal(at, "Global job", job, Long.toString(allocation.globalJob()));
        ticket.ifPresent(signed -> {
            findings.equal(
                    at,
                    "slots",
                    signed.ticket().request().nodes(),
                    allocation.slots().size());
            new TimeOrderCheck(findings, at)
                    .then("ticket", signed.ticket().issued())
                    .then(at, allocation.issued());
            allocation.slots().stream()
                    .filter(slot -> !signed.allowsAddress(allocation.network(), slot.address()))
                    .forEach(slot -> findings.wrong(
                            at, "want addresses for workers in " + allocation.network() + ", have " + slot.address()));
        });
        findings.addConfirmed(
                at,
                "Global job " + allocation.globalJob() + ", "
                        + allocation.slots().size() + " slots, signed by " + allocation.relay());
        if (receipt.slots().size() != allocation.slots().size()) {
            findings.wrong(
                    "slots",
                    "want " + allocation.slots().size() + ", have "
                            + receipt.slots().size());
            return;
        }
        receipt.slots().forEach(slot -> new ReceiptSlotVerifier(receipt, allocation, slot, signers, findings).verify());
    }

    /** Returns the time of an unverified allocation, only to determine the time at which a chain must be valid. */
    private static Optional<Instant> claimedTime(byte[] allocation) {
        try {
            byte[] payload =
                    DsseEnvelope.parse(allocation, Allocation.MAX_ENVELOPE).unverifiedPayload();
            return Optional.of(Allocation.parse(payload).issued());
        } catch (MalformedException e) {
            return Optional.empty();
        }
    }
}
