package org.cloister.protocol.handover;

import org.cloister.protocol.evidence.Nonce;

/**
 * For which VM something is, and in answer to what: as the evidence that it showed has it.
 *
 * @param ticket of a controlling VM the opening's id
 * @param vm its id, of this life
 * @param nonce the verifier's own, given back
 */
public record HandoverTarget(String ticket, int slot, String vm, Nonce nonce) {
    /** @throws IllegalArgumentException if a value is out of its range */
    public HandoverTarget {
        HandoverChecks.ticket(ticket);
        HandoverChecks.slot(slot);
        HandoverChecks.vm(vm);
    }
}
