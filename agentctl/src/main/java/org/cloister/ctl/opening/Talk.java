package org.cloister.ctl.opening;

import java.io.IOException;
import java.time.Duration;
import java.util.function.Predicate;
import org.cloister.ctl.circuit.LinkOptions;
import org.cloister.ctl.circuit.TicketLine;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.jspecify.annotations.Nullable;

/** A device's talk with the relay about one opening. When a link is lost it goes on with the next, and says again what had no answer. */
final class Talk implements AutoCloseable {
    private static final long AGAIN_MS = 1000;

    private final LinkOptions link;
    private final ProjectHistory owners;
    private final Beliefs beliefs;
    private final Duration patience;
    private @Nullable TicketLine line;

    private Talk(LinkOptions link, ProjectHistory owners, Beliefs beliefs, Duration patience) {
        this.link = link;
        this.owners = owners;
        this.beliefs = beliefs;
        this.patience = patience;
    }

    /**
     * Nothing was said yet when this fails.
     *
     * @param patience how long there may be no answer, over all links
     */
    static Talk enter(LinkOptions link, ProjectHistory owners, Beliefs beliefs, Duration patience)
            throws IOException, InterruptedException {
        Talk talk = new Talk(link, owners, beliefs, patience);
        talk.line();
        return talk;
    }

    /**
     * Says {@code first} until it is answered, then {@code next} once a second.
     *
     * @throws IOException the relay refuses, or has not answered for too long
     */
    OfficeMessage.Update follow(
            String opening, PartyMessage first, PartyMessage next, Predicate<OfficeMessage.Update> enough)
            throws IOException, InterruptedException {
        PartyMessage message = first;
        long heardNs = System.nanoTime();
        while (true) {
            try {
                OfficeMessage answer = ask(opening, message);
                if (answer instanceof OfficeMessage.Update update) {
                    if (enough.test(update)) {
                        return update;
                    }
                    heardNs = System.nanoTime();
                    message = next;
                } else if (answer instanceof OfficeMessage.Refused refused) {
                    requireTry(opening, refused, System.nanoTime() - heardNs);
                }
            } catch (LostException e) {
                leave();
                if (System.nanoTime() - heardNs > patience.toNanos()) {
                    throw new IOException(
                            "relay: want an answer about opening " + opening + " within " + patience.toSeconds()
                                    + " s, have none (" + e.getMessage()
                                    + "); it may have been taken, and goes on then: agentctl project close " + opening
                                    + " ends it",
                            e);
                }
            }
            Thread.sleep(AGAIN_MS);
        }
    }

    /** @return an update or a refusal, of this opening */
    private OfficeMessage ask(String opening, PartyMessage message) throws LostException, InterruptedException {
        try {
            TicketLine open = line();
            open.say(message);
            while (true) {
                OfficeMessage heard = open.hear();
                boolean about = heard instanceof OfficeMessage.Update update
                        ? update.ticket().equals(opening)
                        : heard instanceof OfficeMessage.Refused refused
                                && (refused.ticket().isEmpty()
                                        || refused.ticket().equals(opening));
                if (about) {
                    return heard;
                }
            }
        } catch (IOException e) {
            throw new LostException(e);
        }
    }

    /** Returns if it is to be asked again, for nothing was changed. */
    private void requireTry(String opening, OfficeMessage.Refused refused, long silentNs) throws IOException {
        if (refused.clause() == TicketClause.UNAVAILABLE && silentNs <= patience.toNanos()) {
            return;
        }
        String remedy =
                refused.newestEpoch() == 0 ? "" : ": agentctl project open --epoch " + (refused.newestEpoch() + 1);
        throw new IOException("opening " + opening + " refused (" + refused.clause() + "): " + refused.text() + remedy);
    }

    /** How it stands now. */
    OfficeMessage.Update look(String opening) throws IOException, InterruptedException {
        PartyMessage ask = new PartyMessage.Ask(opening);
        return follow(opening, ask, ask, update -> true);
    }

    /** The link that the last answer came on, or a new one. */
    Link link() throws LostException, InterruptedException {
        try {
            return line().link();
        } catch (IOException e) {
            throw new LostException(e);
        }
    }

    private TicketLine line() throws IOException, InterruptedException {
        TicketLine open = line;
        if (open == null) {
            open = TicketLine.open(link.attach(owners, beliefs));
            line = open;
        }
        return open;
    }

    private void leave() {
        TicketLine open = line;
        line = null;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public void close() {
        leave();
    }
}
