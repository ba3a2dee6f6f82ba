package org.cloister.lab.scenario;

import com.google.protobuf.ByteString;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.cloister.lab.LabException;
import org.cloister.lab.Poll;
import org.cloister.lab.relay.RelaySite;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.Ticket;
import org.cloister.protocol.ticket.TicketEnd;
import org.cloister.protocol.ticket.TicketState;
import org.cloister.protocol.ticket.TicketStream;
import org.jspecify.annotations.Nullable;

/** A person who opens the project's controlling VM, with a device that reaches the relay. */
final class Opener implements AgentEvents, TicketStream.Events, AutoCloseable {
    static final String DRIVE = "main";
    static final int DRIVE_MIB = 16;
    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int MEMORY_MIB = 1500;

    private final String project;
    private final SigningKey key;
    private final List<ByteString> chain = new ArrayList<>();
    private final AgentLink link;

    // Guarded by this object's monitor.
    private final Map<String, OfficeMessage.Update> updates = new HashMap<>();
    private final List<String> refusals = new ArrayList<>();
    private @Nullable TicketStream stream;
    private long epoch;

    Opener(RelaySite site, int port, EventLoopGroup loops) throws IOException, GeneralSecurityException {
        this.project = site.opener().project();
        Credential opener = site.credential(site.opener());
        this.key = TicketHost.key(opener);
        for (X509Certificate each : opener.chain()) {
            chain.add(ByteString.copyFrom(each.getEncoded()));
        }
        Credential device = site.credential(site.device());
        this.link = new AgentLink(
                loops,
                new AgentLink.Terms(
                        List.of(RelaySite.loopback(port)),
                        () -> device,
                        trust -> trust.only(RelaySite.RELAY),
                        site.beliefs(),
                        "lab"),
                this,
                new SecureRandom());
        Poll.until("the opener's device at the relay", PATIENCE, "read the relay's log", this::isWelcome);
    }

    private synchronized boolean isWelcome() {
        return stream != null;
    }

    /** By the next epoch. */
    synchronized String open(int minutes) throws IOException, GeneralSecurityException {
        epoch++;
        Instant now = Instant.now();
        Opening opening = new Opening(
                Ticket.newId(new SecureRandom()),
                project,
                epoch,
                now,
                now.plus(Duration.ofMinutes(30)),
                DRIVE,
                DRIVE_MIB,
                1,
                MEMORY_MIB,
                minutes);
        if (stream == null) {
            throw new LabException("opener: no stream to the relay", "read its log");
        }
        stream.say(new PartyMessage.Open(
                chain, ByteString.copyFrom(opening.sign(key).bytes())));
        return opening.id();
    }

    synchronized long epoch() {
        return epoch;
    }

    synchronized Optional<OfficeMessage.Update> standing(String opening) throws IOException {
        if (!refusals.isEmpty()) {
            throw new LabException("refused: " + refusals, "read the relay's log");
        }
        return Optional.ofNullable(updates.get(opening));
    }

    TicketEnd awaitEnd(String opening) throws IOException {
        Poll.until(
                "the end of opening " + opening,
                PATIENCE,
                "read the relay's log",
                () -> standing(opening)
                        .filter(update -> update.state() == TicketState.ENDED)
                        .isPresent());
        return standing(opening).flatMap(OfficeMessage.Update::end).orElseThrow();
    }

    @Override
    public void attached(Attachment attachment) {
        TicketStream.open(attachment.link(), Optional.empty(), this);
    }

    @Override
    public synchronized void heard(TicketStream on, OfficeMessage message) {
        if (message instanceof OfficeMessage.Welcome) {
            stream = on;
        } else if (message instanceof OfficeMessage.Update update) {
            updates.put(update.ticket(), update);
        } else if (message instanceof OfficeMessage.Refused refused) {
            refusals.add(refused.toString());
        }
    }

    @Override
    public synchronized void ended(String why) {
        stream = null;
    }

    @Override
    public void served(Name name, Optional<CloseReason> refused) {}

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        attachment.refuse(dial, CloseReason.UNKNOWN);
    }

    @Override
    public boolean revoked(byte[] signed) {
        return false;
    }

    @Override
    public void refused(IdentityRefused list) {}

    @Override
    public synchronized void lost(String why) {
        stream = null;
    }

    @Override
    public void close() {
        link.close();
    }
}
