package org.cloister.lab.localslurm;

import java.util.ArrayList;
import java.util.List;
import org.cloister.vm.controller.tickets.WorkerEvent.EndReason;
import org.jspecify.annotations.Nullable;

/**
 * A ticket that was requested.
 *
 * @param place in the order of requests
 * @param requestedMs since the epoch
 * @param places one for each slot, once allocated
 * @param fault the fault to inject into it
 * @param asRefused why nothing will be allocated
 */
record RequestedTicket(
        String ticket,
        long place,
        long requestedMs,
        State state,
        PerHostResources request,
        List<SlotPlacement> places,
        @Nullable WorkerFault fault,
        @Nullable EndReason asRefused) {
    /** State of the request. */
    enum State {
        WAITING,
        ALLOCATED,
        STOPPING,
        REFUSED
    }

    RequestedTicket {
        places = List.copyOf(places);
    }

    RequestedTicket withState(State next) {
        return new RequestedTicket(ticket, place, requestedMs, next, request, places, fault, asRefused);
    }

    RequestedTicket withSlots(List<SlotPlacement> slots) {
        return new RequestedTicket(ticket, place, requestedMs, State.ALLOCATED, request, slots, fault, asRefused);
    }

    RequestedTicket asRefused(EndReason why) {
        return new RequestedTicket(ticket, place, requestedMs, State.REFUSED, request, places, fault, why);
    }

    RequestedTicket withReadySlot(int slot) {
        List<SlotPlacement> next = new ArrayList<>(places);
        next.set(slot, places.get(slot).asReady());
        return new RequestedTicket(ticket, place, requestedMs, state, request, next, fault, asRefused);
    }

    String node(int slot) {
        return "vm-" + ticket.substring(0, 8) + "-" + slot;
    }
}
