package org.cloister.lab.localslurm;

import java.util.ArrayList;
import java.util.List;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.jspecify.annotations.Nullable;

/**
 * A ticket that was requested.
 *
 * @param place in the order of requests
 * @param askedMs since the epoch
 * @param places one for each slot, once allocated
 * @param fault the fault to inject into it
 * @param asRefused why nothing will be allocated
 */
record RequestedTicket(
        String ticket,
        long place,
        long askedMs,
        State state,
        PerHostResources need,
        List<SlotPlacement> places,
        @Nullable WorkerFault fault,
        @Nullable EndReason asRefused) {
    /** State of the request. */
    enum State {
        WAITING,
        GIVEN,
        LEAVING,
        REFUSED
    }

    RequestedTicket {
        places = List.copyOf(places);
    }

    RequestedTicket withState(State next) {
        return new RequestedTicket(ticket, place, askedMs, next, need, places, fault, asRefused);
    }

    RequestedTicket withSlots(List<SlotPlacement> given) {
        return new RequestedTicket(ticket, place, askedMs, State.GIVEN, need, given, fault, asRefused);
    }

    RequestedTicket asRefused(EndReason why) {
        return new RequestedTicket(ticket, place, askedMs, State.REFUSED, need, places, fault, why);
    }

    RequestedTicket withReadySlot(int slot) {
        List<SlotPlacement> next = new ArrayList<>(places);
        next.set(slot, places.get(slot).asReady());
        return new RequestedTicket(ticket, place, askedMs, state, need, next, fault, asRefused);
    }

    String node(int slot) {
        return "vm-" + ticket.substring(0, 8) + "-" + slot;
    }
}
