package org.cloister.protocol.receipt;

import java.util.EnumSet;
import java.util.Set;
import org.cloister.protocol.ticket.TicketEnd;

/**
 * Checks that a receipt has the parts that its end requires, and none that its end excludes; docs/protocol.md, section
 * 15.
 */
final class ReceiptCompleteness {
    /** Ends before the ticket had nodes. */
    private static final Set<TicketEnd> BEFORE_NODES = EnumSet.of(TicketEnd.REFUSED);
    /** Ends before any hand-over. */
    private static final Set<TicketEnd> BEFORE_HAND_OVER = EnumSet.of(TicketEnd.REFUSED, TicketEnd.NOT_STARTED);
    /** Ends after the ticket had nodes. */
    private static final Set<TicketEnd> WITH_NODES = EnumSet.of(TicketEnd.COMPLETED, TicketEnd.NODE_FAILED);
    /** Ends after which a host may be lost for good, and its statement with it. */
    private static final Set<TicketEnd> WITHOUT_HOST = EnumSet.of(TicketEnd.NODE_FAILED, TicketEnd.LOST);

    private final TicketEnd end;
    private final ReceiptFindings findings;

    ReceiptCompleteness(TicketEnd end, ReceiptFindings findings) {
        this.end = end;
        this.findings = findings;
    }

    void require(Receipt receipt) {
        if (end == TicketEnd.SUPERSEDED) {
            findings.wrong("end", "want one of a ticket, have " + end + ", which openings alone have");
        }
        boolean nodes = receipt.allocation().isPresent();
        if (WITH_NODES.contains(end)) {
            require(nodes, "allocation");
        }
        if (BEFORE_NODES.contains(end)) {
            refuse(nodes, "allocation");
        }
        if (!nodes && !receipt.slots().isEmpty()) {
            findings.wrong(
                    "slots",
                    "want none without an allocation, have " + receipt.slots().size());
        }
        receipt.slots().forEach(this::require);
        if (receipt.policy().isEmpty()
                && receipt.slots().stream().anyMatch(slot -> slot.handOver().isPresent())) {
            findings.wrong("policy", "want the hash of the policy under which there were hand-overs, have none");
        }
    }

    private void require(ReceiptSlot slot) {
        String subject = "slot " + slot.slot() + ": ";
        if (BEFORE_HAND_OVER.contains(end)) {
            refuse(slot.handOver().isPresent(), subject + "hand-over");
        }
        if (end == TicketEnd.COMPLETED) {
            require(slot.hostStatement().isPresent(), subject + "host's part");
            require(slot.evidence().isPresent(), subject + "evidence");
            require(slot.handOver().isPresent(), subject + "hand-over");
            require(slot.workerStatement().isPresent(), subject + "worker's part");
        }
        follows(
                subject + "host's part",
                slot.hostStatement().isPresent() || WITHOUT_HOST.contains(end),
                slot.evidence().isPresent());
        follows(
                subject + "evidence",
                slot.evidence().isPresent(),
                slot.handOver().isPresent());
        follows(
                subject + "hand-over",
                slot.handOver().isPresent(),
                slot.workerStatement().isPresent());
        if (slot.handOver().isPresent() && slot.workerStatement().isEmpty() && end != TicketEnd.COMPLETED) {
            findings.claim(subject + "worker's part", "not there: the worker said nothing of its end");
        }
        if (slot.evidence().isPresent() && slot.hostStatement().isEmpty() && WITHOUT_HOST.contains(end)) {
            findings.claim(subject + "host's part", "not there: the host said nothing of its end");
        }
    }

    private void require(boolean exists, String subject) {
        if (!exists) {
            findings.wrong(subject, "missing, and a ticket that ended as " + end + " has one");
        }
    }

    private void refuse(boolean exists, String subject) {
        if (exists) {
            findings.wrong(subject, "want none of a ticket that ended as " + end + ", have one");
        }
    }

    private void follows(String subject, boolean exists, boolean next) {
        if (next && !exists) {
            findings.wrong(subject, "missing, and what comes after it is there");
        }
    }
}
