package org.cloister.lab.scenario;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import org.cloister.lab.LabException;
import org.cloister.lab.Poll;
import org.cloister.lab.relay.RelaySite;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.TicketStream;
import org.cloister.protocol.ticket.Withdrawal;
import org.jspecify.annotations.Nullable;

/** A controlling VM's side of its tickets: orders, withdraws, and asks again for all when it was away. */
final class TicketVm implements TicketStream.Events {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Name name;
    private final SigningKey key;
    private final TicketStream.Speaker speaker;

    // Guarded by this object's monitor.
    private final Map<String, PartyMessage> orders = new LinkedHashMap<>();
    private final Map<String, OfficeMessage.Update> updates = new LinkedHashMap<>();
    private final Map<String, Set<Integer>> parts = new LinkedHashMap<>();
    private final List<String> refusals = new ArrayList<>();
    private ByteString head = ByteString.EMPTY;
    private @Nullable TicketStream stream;
    private long sequence;

    TicketVm(RelaySite site) throws IOException, GeneralSecurityException {
        this.name = site.controller();
        Credential own = site.credential(name);
        this.key = TicketHost.key(own);
        List<byte[]> chain = new ArrayList<>();
        for (X509Certificate each : own.chain()) {
            chain.add(each.getEncoded());
        }
        this.speaker = new TicketStream.Speaker(name, chain, key);
    }

    /** Over a host's link. */
    void enter(Link host) {
        TicketStream.open(host, Optional.of(speaker), this);
    }

    static ResourceRequest nodes(int nodes) {
        return new ResourceRequest(nodes, OptionalInt.of(nodes), 1, OptionalInt.of(1), 64, 0, false, 10, List.of());
    }

    /** All of both nodes: it waits for every job before it, and lets none run beside it. */
    static ResourceRequest everything() {
        return new ResourceRequest(2, OptionalInt.empty(), 1, OptionalInt.empty(), 0, 0, true, 10, List.of());
    }

    synchronized String order(ResourceRequest request) throws GeneralSecurityException {
        sequence++;
        Instant now = Instant.now();
        Ticket ticket = new Ticket(
                Ticket.newId(new SecureRandom()),
                name.project(),
                1,
                sequence,
                now,
                now.plus(Duration.ofMinutes(30)),
                request);
        PartyMessage order =
                new PartyMessage.Order(ByteString.copyFrom(ticket.sign(key).bytes()));
        orders.put(ticket.id(), order);
        say(order);
        return ticket.id();
    }

    synchronized void withdraw(String ticket) throws GeneralSecurityException {
        say(new PartyMessage.Withdraw(ByteString.copyFrom(
                new Withdrawal(ticket, name.project()).sign(key).bytes())));
    }

    private void say(PartyMessage message) {
        if (stream != null) {
            stream.say(message);
        }
    }

    /** The newest signed head of the relay's audit log that it has heard of. */
    synchronized ByteString head() {
        return head;
    }

    synchronized boolean isWelcome() {
        return stream != null;
    }

    synchronized Optional<OfficeMessage.Update> standing(String ticket) {
        return Optional.ofNullable(updates.get(ticket));
    }

    /** Slots of which a part of the receipt has come. */
    synchronized Set<Integer> parts(String ticket) {
        return Set.copyOf(parts.getOrDefault(ticket, Set.of()));
    }

    /** Once it has come so far; it may have gone further. */
    OfficeMessage.Update await(String ticket, TicketState state) throws IOException {
        Poll.until(ticket + " " + state + " at its controlling VM", PATIENCE, "read the relay's log", () -> {
            Optional<OfficeMessage.Update> standing = standing(ticket);
            if (state != TicketState.ENDED
                    && standing.isPresent()
                    && standing.get().state() == TicketState.ENDED) {
                throw new LabException(ticket + ": want it " + state + ", have " + standing.get(), "read the log");
            }
            synchronized (this) {
                if (!refusals.isEmpty()) {
                    throw new LabException("refused: " + refusals, "read the relay's log");
                }
            }
            return standing.isPresent() && standing.get().state().compareTo(state) >= 0;
        });
        return standing(ticket).orElseThrow();
    }

    TicketEnd awaitEnd(String ticket) throws IOException {
        return await(ticket, TicketState.ENDED).end().orElseThrow();
    }

    @Override
    public synchronized void heard(TicketStream on, OfficeMessage message) {
        if (message instanceof OfficeMessage.Welcome welcome) {
            stream = on;
            head = welcome.head();
            // An order or its answer may have been lost: the same again is the same ticket.
            orders.forEach((ticket, order) -> {
                boolean known = updates.containsKey(ticket);
                on.say(known ? new PartyMessage.Ask(ticket) : order);
            });
        } else if (message instanceof OfficeMessage.Update update) {
            updates.put(update.ticket(), update);
            head = update.head();
        } else if (message instanceof OfficeMessage.Part part) {
            parts.computeIfAbsent(part.ticket(), ticket -> new TreeSet<>()).add(part.slot());
        } else if (message instanceof OfficeMessage.Refused refused) {
            refusals.add(refused.toString());
        }
    }

    @Override
    public synchronized void ended(String why) {
        stream = null;
    }
}
