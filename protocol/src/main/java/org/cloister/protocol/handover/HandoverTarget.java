package org.cloister.protocol.handover;

import org.cloister.protocol.evidence.Nonce;

/**
 * Target of a verifier's message: the VM and the nonce for which it is, as in the evidence that the VM showed.
 *
 * @param ticket for a controlling VM the opening's id
 * @param vm id of this life of the VM
 * @param nonce the verifier's own, returned
 */
public record HandoverTarget(String ticket, int slot, String vm, Nonce nonce) {
    /** @throws IllegalArgumentException if a value is out of its range */
    public HandoverTarget {
        HandoverChecks.ticket(ticket);
        HandoverChecks.slot(slot);
        HandoverChecks.vm(vm);
    }
}
