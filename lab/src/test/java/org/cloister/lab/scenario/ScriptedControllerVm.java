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
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.ResourceRequest;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.Withdrawal;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.TicketStream;
import org.cloister.transport.tls.TlsCredential;
import org.jspecify.annotations.Nullable;

/** A controlling VM's side of its tickets: orders, withdraws, and asks again for all when it was away. */
final class ScriptedControllerVm implements TicketStream.Events {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final CertificateName name;
    private final SigningKey key;
    private final TicketStream.ControllerSigner signer;

    // Guarded by this object's monitor.
    private final Map<String, AgentTicketMessage> orders = new LinkedHashMap<>();
    private final Map<String, RelayTicketMessage.Update> updates = new LinkedHashMap<>();
    private final Map<String, Set<Integer>> parts = new LinkedHashMap<>();
    private final List<String> refusals = new ArrayList<>();
    private ByteString head = ByteString.EMPTY;
    private @Nullable TicketStream stream;
    private long sequence;

    ScriptedControllerVm(RelaySiteFiles site) throws IOException, GeneralSecurityException {
        this.name = site.controller();
        TlsCredential own = site.credential(name);
        this.key = ScriptedTicketHost.key(own);
        List<byte[]> chain = new ArrayList<>();
        for (X509Certificate each : own.chain()) {
            chain.add(each.getEncoded());
        }
        this.signer = new TicketStream.ControllerSigner(name, chain, key);
    }

    /** Over a host's link. */
    void enter(ClientLink host) {
        TicketStream.open(host, Optional.of(signer), this);
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
        AgentTicketMessage order = new AgentTicketMessage.Submit(
                ByteString.copyFrom(ticket.sign(key).bytes()));
        orders.put(ticket.id(), order);
        send(order);
        return ticket.id();
    }

    synchronized void withdraw(String ticket) throws GeneralSecurityException {
        send(new AgentTicketMessage.Withdraw(ByteString.copyFrom(
                new Withdrawal(ticket, name.project()).sign(key).bytes())));
    }

    private void send(AgentTicketMessage message) {
        if (stream != null) {
            stream.send(message);
        }
    }

    /** The newest signed head of the relay's audit log that it has heard of. */
    synchronized ByteString head() {
        return head;
    }

    synchronized boolean isWelcome() {
        return stream != null;
    }

    synchronized Optional<RelayTicketMessage.Update> standing(String ticket) {
        return Optional.ofNullable(updates.get(ticket));
    }

    /** Slots of which a part of the receipt has come. */
    synchronized Set<Integer> parts(String ticket) {
        return Set.copyOf(parts.getOrDefault(ticket, Set.of()));
    }

    /** Once it has come so far; it may have gone further. */
    RelayTicketMessage.Update await(String ticket, TicketState state) throws IOException {
        Poll.until(ticket + " " + state + " at its controlling VM", TIMEOUT, "read the relay's log", () -> {
            Optional<RelayTicketMessage.Update> update = standing(ticket);
            if (state != TicketState.ENDED && update.isPresent() && update.get().state() == TicketState.ENDED) {
                throw new LabException(ticket + ": want it " + state + ", have " + update.get(), "read the log");
            }
            synchronized (this) {
                if (!refusals.isEmpty()) {
                    throw new LabException("refused: " + refusals, "read the relay's log");
                }
            }
            return update.isPresent() && update.get().state().compareTo(state) >= 0;
        });
        return standing(ticket).orElseThrow();
    }

    TicketEnd awaitEnd(String ticket) throws IOException {
        return await(ticket, TicketState.ENDED).end().orElseThrow();
    }

    @Override
    public synchronized void onMessage(TicketStream on, RelayTicketMessage message) {
        if (message instanceof RelayTicketMessage.Welcome welcome) {
            stream = on;
            head = welcome.head();
            // An order or its answer may have been lost: the same again is the same ticket.
            orders.forEach((ticket, order) -> {
                boolean known = updates.containsKey(ticket);
                on.send(known ? new AgentTicketMessage.QueryTicket(ticket) : order);
            });
        } else if (message instanceof RelayTicketMessage.Update update) {
            updates.put(update.ticket(), update);
            head = update.head();
        } else if (message instanceof RelayTicketMessage.ForwardedStatement part) {
            parts.computeIfAbsent(part.ticket(), ticket -> new TreeSet<>()).add(part.slot());
        } else if (message instanceof RelayTicketMessage.Refused refused) {
            refusals.add(refused.toString());
        }
    }

    @Override
    public synchronized void onClosed(String why) {
        stream = null;
    }
}
