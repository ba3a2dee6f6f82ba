package org.cloister.vm.handover;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.protocol.evidence.Clause;
import org.cloister.protocol.handover.VmMessage;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Shown;

/**
 * Whether a worker that comes back with a certificate goes on as it was, is given what it has anew, or is nobody's any more.
 * That its certificate holds the circuit has found, whichever boot of the controlling VM issued it; here it has to be the one
 * that the drive's book has, by its key. Not for several threads.
 */
final class Returning {
    /** A worker comes when half of a day is over; whoever comes for another reason is served a little sooner. */
    private static final Duration RENEWED = Duration.ofHours(13);

    private final GuestBook book;
    private final HandOverDesk.Terms terms;
    private final Giver giver;
    /** Workers that have what this boot gives. */
    private final Set<Name> here = new HashSet<>();

    sealed interface Answer {
        record GoOn() implements Answer {}

        /** @param key whether it needs the munge key too */
        record Anew(Guest guest, boolean key) implements Answer {}

        /** @param lost whether it was the slot's own worker, so that nobody else is to come */
        record Refuse(String clause, boolean lost) implements Answer {}
    }

    Returning(GuestBook book, HandOverDesk.Terms terms, Giver giver) {
        this.book = book;
        this.terms = terms;
        this.giver = giver;
    }

    /** Before anything goes out. */
    void given(Name worker, Guest guest) throws IOException {
        book.write(guest);
        here.add(worker);
    }

    /** Whether anything went out to the slot. */
    boolean isGiven(Expected.Place place) {
        return book.find(place.ticket(), place.slot().slot()).isPresent();
    }

    /** It has what it was given anew. */
    void readmitted(Name worker) {
        here.add(worker);
    }

    boolean isHere(Name worker) {
        return here.contains(worker);
    }

    /** @param workers the ticket's */
    void forget(String ticket, List<Name> workers) throws IOException {
        workers.forEach(here::remove);
        book.forget(ticket);
    }

    /** Whose name it comes in is not enough: of a slot one key alone was given a certificate. @return why it is refused */
    Optional<Answer.Refuse> stranger(Expected.Place place, Shown shown) {
        Optional<Guest> guest = book.find(place.ticket(), place.slot().slot());
        if (guest.isEmpty()) {
            return Optional.of(new Answer.Refuse("unknown", false));
        }
        return guest.get().keys().signing().equals(shown.key())
                ? Optional.empty()
                : Optional.of(new Answer.Refuse("another-key", false));
    }

    Answer answer(Expected.Place place, Identity shown, VmMessage.Resume resume, Instant now) {
        Optional<Answer.Refuse> stranger = stranger(place, shown);
        if (stranger.isPresent()) {
            return stranger.get();
        }
        Guest guest = book.find(place.ticket(), place.slot().slot()).orElseThrow();
        if (!resume.ticket().equals(guest.ticket())
                || resume.slot() != guest.slot()
                || !resume.vm().equals(guest.vm())) {
            return new Answer.Refuse("another-vm", true);
        }
        boolean known = here.contains(shown.name());
        if (known && Duration.between(now, shown.until()).compareTo(RENEWED) > 0) {
            return new Answer.GoOn();
        }
        Optional<String> clause = clause(place, guest, now);
        return clause.isPresent() ? new Answer.Refuse(clause.get(), true) : new Answer.Anew(guest, !known);
    }

    /** What was believed when it was handed over to, and is not now. */
    private Optional<String> clause(Expected.Place place, Guest guest, Instant now) {
        if (!place.slot().address().equals(guest.address())
                || !place.slot().key().equals(guest.host())) {
            return Optional.of("another-slot");
        } else if (!terms.policy().accepts(guest.host())) {
            return Optional.of(Clause.HOST.id());
        } else if (terms.hosts().revoked().test(guest.host())) {
            return Optional.of(Clause.REVOKED.id());
        } else if (!terms.policy().accepts(guest.image(), now)) {
            return Optional.of(Clause.IMAGE.id());
        }
        return giver.isWelcome(guest) ? Optional.empty() : Optional.of("no-member");
    }
}
