package org.cloister.lab.scenario;

import com.google.protobuf.ByteString;
import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
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
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.cloister.lab.LabException;
import org.cloister.lab.Poll;
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.Withdrawal;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.TicketStream;
import org.cloister.transport.tls.TlsCredential;
import org.jspecify.annotations.Nullable;

/** A person's device at the relay: it opens and closes the controlling VM with what its person signs. */
final class ScriptedOpenerDevice implements TicketStream.Events {
    /** A job whose time is over ends up to a minute later. */
    private static final Duration TIMEOUT = Duration.ofMinutes(2);

    private final RelaySiteFiles site;
    private final LinkedBlockingQueue<RelayTicketMessage.Refused> refusals = new LinkedBlockingQueue<>();

    // Guarded by this object's monitor.
    private final Map<String, RelayTicketMessage.Update> updates = new LinkedHashMap<>();
    private @Nullable TicketStream stream;

    ScriptedOpenerDevice(RelaySiteFiles site) {
        this.site = site;
    }

    /** Anew after each end of the relay. */
    void enter(EventLoopGroup loops, int port) throws IOException {
        CertifiedPeerVerifier relay =
                CertifiedPeerVerifier.forRelays(site.beliefs()).only(RelaySiteFiles.RELAY);
        Future<ClientLink> dialled =
                ClientLink.dial(loops, RelaySiteFiles.loopback(port), site.credential(site.device()), relay);
        if (!dialled.awaitUninterruptibly(TIMEOUT.toMillis()) || !dialled.isSuccess()) {
            throw new LabException("a device's link: " + dialled.cause(), "read the relay's log");
        }
        TicketStream.open(dialled.getNow(), Optional.empty(), this);
        Poll.until("a welcome of the device", TIMEOUT, "read the relay's log", () -> {
            synchronized (this) {
                return stream != null;
            }
        });
    }

    static Opening opening(String project, long epoch) {
        Instant now = Instant.now();
        return new Opening(
                Ticket.newId(new SecureRandom()),
                project,
                epoch,
                now,
                now.plus(Duration.ofMinutes(30)),
                "main",
                1024,
                1,
                64,
                10);
    }

    /** Signed by the opener, and sent. */
    String open(long epoch) throws IOException, GeneralSecurityException {
        Opening opening = opening(site.opener().project(), epoch);
        open(site, site.opener(), opening);
        return opening.id();
    }

    /** @param from where the signer's key and certificate are */
    void open(RelaySiteFiles from, CertificateName signer, Opening opening)
            throws IOException, GeneralSecurityException {
        TlsCredential own = from.credential(signer);
        byte[] envelope = opening.sign(ScriptedTicketHost.key(own)).bytes();
        send(new AgentTicketMessage.Open(chain(own), ByteString.copyFrom(envelope)));
    }

    void close(String opening) throws IOException, GeneralSecurityException {
        TlsCredential own = site.credential(site.opener());
        byte[] envelope = new Withdrawal(opening, site.opener().project())
                .sign(ScriptedTicketHost.key(own))
                .bytes();
        send(new AgentTicketMessage.Close(chain(own), ByteString.copyFrom(envelope)));
    }

    void ask(String opening) {
        send(new AgentTicketMessage.QueryTicket(opening));
    }

    private static List<ByteString> chain(TlsCredential own) throws GeneralSecurityException {
        List<ByteString> chain = new ArrayList<>();
        for (X509Certificate each : own.chain()) {
            chain.add(ByteString.copyFrom(each.getEncoded()));
        }
        return chain;
    }

    private synchronized void send(AgentTicketMessage message) {
        if (stream == null) {
            throw new IllegalStateException("a device says nothing while it has no stream");
        }
        stream.send(message);
    }

    /** The next one. */
    RelayTicketMessage.Refused refused() throws IOException, InterruptedException {
        RelayTicketMessage.Refused refused = refusals.poll(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
        if (refused == null) {
            throw new LabException("no refusal within " + TIMEOUT.toSeconds() + " s", "read the relay's log");
        }
        return refused;
    }

    synchronized Optional<RelayTicketMessage.Update> standing(String opening) {
        return Optional.ofNullable(updates.get(opening));
    }

    /** Once it has come so far; it may have gone further. */
    RelayTicketMessage.Update await(String opening, TicketState state) throws IOException {
        Poll.until(opening + " " + state + " at its opener's device", TIMEOUT, "read the relay's log", () -> {
            RelayTicketMessage.Refused refused = refusals.peek();
            if (refused != null) {
                throw new LabException("refused: " + refused, "read the relay's log");
            }
            Optional<RelayTicketMessage.Update> update = standing(opening);
            if (state != TicketState.ENDED && update.isPresent() && update.get().state() == TicketState.ENDED) {
                throw new LabException(opening + ": want it " + state + ", have " + update.get(), "read the log");
            }
            return update.isPresent() && update.get().state().compareTo(state) >= 0;
        });
        return standing(opening).orElseThrow();
    }

    TicketEnd awaitEnd(String opening) throws IOException {
        return await(opening, TicketState.ENDED).end().orElseThrow();
    }

    @Override
    public synchronized void onMessage(TicketStream on, RelayTicketMessage message) {
        if (message instanceof RelayTicketMessage.Welcome) {
            stream = on;
        } else if (message instanceof RelayTicketMessage.Update update) {
            updates.put(update.ticket(), update);
        } else if (message instanceof RelayTicketMessage.Refused refused) {
            refusals.add(refused);
        }
    }

    @Override
    public synchronized void onClosed(String why) {
        stream = null;
    }
}
