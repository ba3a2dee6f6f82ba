package org.cloister.vm.handover;

import java.io.IOException;
import org.cloister.protocol.evidence.Nonce;
import org.cloister.protocol.evidence.Statement;
import org.cloister.protocol.handover.HandOver;
import org.cloister.protocol.handover.Place;
import org.cloister.protocol.handover.Readmission;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.Slot;

/** Makes room for workers whose evidence holds, and what they are given. Calls may block. */
public interface Giver {
    /**
     * Lets the worker's address in, and to its job's part of the storage, and to nothing else; then all that it needs.
     *
     * @param statement its evidence, accepted and spent
     * @throws IOException if it cannot be had; nothing is handed over
     */
    HandOver give(Place place, Allocation allocation, Slot slot, Statement statement) throws IOException;

    /** Whether its job's user still is one who may have workers. */
    boolean isWelcome(Guest guest);

    /**
     * Lets a worker that was handed over to in again, if it was not in, and certifies its key for another day.
     *
     * @param fresh of the circuit on which it goes out
     * @param key whether it needs the munge key too
     * @throws IOException if it cannot be had now; the worker asks again
     */
    Readmission readmit(Guest guest, Nonce fresh, boolean key) throws IOException;

    /** Its workers' addresses have no business here any more. */
    void dismiss(String ticket);
}
