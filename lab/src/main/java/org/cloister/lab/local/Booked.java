package org.cloister.lab.local;

import java.util.ArrayList;
import java.util.List;
import org.cloister.vm.worker.WorkerEvent.Trouble;
import org.jspecify.annotations.Nullable;

/**
 * A ticket that was asked for.
 *
 * @param place in the order of asking
 * @param askedMs since the epoch
 * @param places one for each slot, once given
 * @param fault that it meets
 * @param refused why nothing will be given
 */
record Booked(
        String ticket,
        long place,
        long askedMs,
        State state,
        Need need,
        List<Place> places,
        @Nullable Fault fault,
        @Nullable Trouble refused) {
    /** How far it is. */
    enum State {
        WAITING,
        GIVEN,
        LEAVING,
        REFUSED
    }

    Booked {
        places = List.copyOf(places);
    }

    Booked in(State next) {
        return new Booked(ticket, place, askedMs, next, need, places, fault, refused);
    }

    Booked given(List<Place> given) {
        return new Booked(ticket, place, askedMs, State.GIVEN, need, given, fault, refused);
    }

    Booked refused(Trouble why) {
        return new Booked(ticket, place, askedMs, State.REFUSED, need, places, fault, why);
    }

    Booked ready(int slot) {
        List<Place> next = new ArrayList<>(places);
        next.set(slot, places.get(slot).nowReady());
        return new Booked(ticket, place, askedMs, state, need, next, fault, refused);
    }

    String node(int slot) {
        return "vm-" + ticket.substring(0, 8) + "-" + slot;
    }
}
