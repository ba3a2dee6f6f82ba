package org.cloister.ctl.opening;

import java.io.IOException;
import java.time.Duration;
import java.util.function.Predicate;
import org.cloister.ctl.circuit.DeviceTicketSession;
import org.cloister.ctl.circuit.RelayLinkOptions;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.transport.link.ClientLink;
import org.jspecify.annotations.Nullable;

/**
 * Device's conversation with the relay about one opening. When a link is lost it continues on the next one, and repeats
 * the request that had no answer.
 */
final class OpenerRelaySession implements AutoCloseable {
    private static final long AGAIN_MS = 1000;

    private final RelayLinkOptions link;
    private final ProjectHistory owners;
    private final TrustStore trustStore;
    private final Duration timeout;
    private @Nullable DeviceTicketSession line;

    private OpenerRelaySession(RelayLinkOptions link, ProjectHistory owners, TrustStore trustStore, Duration timeout) {
        this.link = link;
        this.owners = owners;
        this.trustStore = trustStore;
        this.timeout = timeout;
    }

    /**
     * Connects to the relay. If this fails, no request was sent.
     *
     * @param timeout maximum time without an answer, over all links
     */
    static OpenerRelaySession open(
            RelayLinkOptions link, ProjectHistory owners, TrustStore trustStore, Duration timeout)
            throws IOException, InterruptedException {
        OpenerRelaySession session = new OpenerRelaySession(link, owners, trustStore, timeout);
        session.line();
        return session;
    }

    /**
     * Sends {@code first} until it is answered, then {@code next} once a second.
     *
     * @throws IOException if the relay refuses, or has not answered for too long
     */
    RelayTicketMessage.Update sendUntil(
            String opening,
            AgentTicketMessage first,
            AgentTicketMessage next,
            Predicate<RelayTicketMessage.Update> enough)
            throws IOException, InterruptedException {
        AgentTicketMessage message = first;
        long receivedNs = System.nanoTime();
        while (true) {
            try {
                RelayTicketMessage answer = query(opening, message);
                if (answer instanceof RelayTicketMessage.Update update) {
                    if (enough.test(update)) {
                        return update;
                    }
                    receivedNs = System.nanoTime();
                    message = next;
                } else if (answer instanceof RelayTicketMessage.Refused refused) {
                    requireTry(opening, refused, System.nanoTime() - receivedNs);
                }
            } catch (ConnectionLostException e) {
                withdraw();
                if (System.nanoTime() - receivedNs > timeout.toNanos()) {
                    throw new IOException(
                            "relay: no answer about opening " + opening + " within " + timeout.toSeconds() + " s ("
                                    + e.getMessage()
                                    + "); if the relay has accepted it, it continues: agentctl project close " + opening
                                    + " ends it",
                            e);
                }
            }
            Thread.sleep(AGAIN_MS);
        }
    }

    /**
     * Sends a message and waits for its answer.
     *
     * @return an update or a refusal of this opening
     */
    private RelayTicketMessage query(String opening, AgentTicketMessage message)
            throws ConnectionLostException, InterruptedException {
        try {
            DeviceTicketSession open = line();
            open.send(message);
            while (true) {
                RelayTicketMessage relayMessage = open.receive();
                boolean about = relayMessage instanceof RelayTicketMessage.Update update
                        ? update.ticket().equals(opening)
                        : relayMessage instanceof RelayTicketMessage.Refused refused
                                && (refused.ticket().isEmpty()
                                        || refused.ticket().equals(opening));
                if (about) {
                    return relayMessage;
                }
            }
        } catch (IOException e) {
            throw new ConnectionLostException(e);
        }
    }

    /** Returns if the request may be repeated, because nothing was changed; otherwise throws the refusal. */
    private void requireTry(String opening, RelayTicketMessage.Refused refused, long silentNs) throws IOException {
        if (refused.clause() == TicketClause.UNAVAILABLE && silentNs <= timeout.toNanos()) {
            return;
        }
        String remedy =
                refused.newestEpoch() == 0 ? "" : ": agentctl project open --epoch " + (refused.newestEpoch() + 1);
        throw new IOException("opening " + opening + " refused (" + refused.clause() + "): " + refused.text() + remedy);
    }

    /** Queries the opening's present state. */
    RelayTicketMessage.Update queryState(String opening) throws IOException, InterruptedException {
        AgentTicketMessage ask = new AgentTicketMessage.QueryTicket(opening);
        return sendUntil(opening, ask, ask, update -> true);
    }

    /** Returns the link of the last answer, or a new one. */
    ClientLink link() throws ConnectionLostException, InterruptedException {
        try {
            return line().link();
        } catch (IOException e) {
            throw new ConnectionLostException(e);
        }
    }

    private DeviceTicketSession line() throws IOException, InterruptedException {
        DeviceTicketSession open = line;
        if (open == null) {
            open = DeviceTicketSession.open(link.attach(owners, trustStore));
            line = open;
        }
        return open;
    }

    private void withdraw() {
        DeviceTicketSession open = line;
        line = null;
        if (open != null) {
            open.close();
        }
    }

    @Override
    public void close() {
        withdraw();
    }
}
