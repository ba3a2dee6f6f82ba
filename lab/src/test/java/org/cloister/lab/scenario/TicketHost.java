package org.cloister.lab.scenario;

import com.google.protobuf.ByteString;
import io.netty.channel.EventLoopGroup;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.cloister.lab.relay.RelaySite;
import org.cloister.protocol.dsse.Envelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.Credential;
import org.cloister.protocol.link.Link;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.protocol.ticket.ClaimCheck;
import org.cloister.protocol.ticket.OfficeMessage;
import org.cloister.protocol.ticket.PartyMessage;
import org.cloister.protocol.ticket.SignedRequest;
import org.cloister.protocol.ticket.Slot;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.protocol.ticket.TicketStream;
import org.jspecify.annotations.Nullable;

/** A compute host without VMs: it claims a slot for each step on its node, checks what comes, and reports when the step is over. */
final class TicketHost implements AgentEvents, TicketStream.Events, AutoCloseable {
    private static final String PART = "application/vnd.in-toto+json";

    private final Name name;
    private final TicketSteps steps;
    private final byte[] statement;
    private final Consumer<Link> attached;
    private final Credential own;
    private final SigningKey key;
    private final Beliefs beliefs;
    private final Identity relay;

    // Guarded by this object's monitor.
    private final Map<String, Slot> slots = new HashMap<>();
    private final Set<String> reported = new HashSet<>();
    private final List<String> refusals = new ArrayList<>();
    /** On the present stream. */
    private final Set<String> asked = new HashSet<>();

    private @Nullable TicketStream stream;
    private @Nullable AgentLink link;

    /**
     * @param statement of each of its parts of receipts
     * @param attached hears each new link to the relay
     */
    TicketHost(RelaySite site, Name name, TicketSteps steps, byte[] statement, Consumer<Link> attached)
            throws IOException, GeneralSecurityException {
        this.name = name;
        this.steps = steps;
        this.statement = statement.clone();
        this.attached = attached;
        this.own = site.credential(name);
        this.key = key(own);
        this.beliefs = site.beliefs();
        this.relay = Chain.of(site.credential(RelaySite.RELAY).chain())
                .verifyUnlisted(Set.of(Role.RELAY), beliefs.anchors(), Instant.now());
    }

    static SigningKey key(Credential own) throws IOException, GeneralSecurityException {
        return SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
    }

    void attach(EventLoopGroup loops, int port) {
        AgentLink.Terms terms = new AgentLink.Terms(
                List.of(RelaySite.loopback(port)), () -> own, trust -> trust.only(RelaySite.RELAY), beliefs, "lab");
        link = new AgentLink(loops, terms, this, new SecureRandom());
    }

    /** Looks what its node runs; called again and again. */
    synchronized void look() throws IOException, GeneralSecurityException {
        TicketStream now = stream;
        if (now == null) {
            return;
        }
        for (TicketSteps.Step step : steps.begun(name.id())) {
            if (!slots.containsKey(step.ticket()) && asked.add("claim " + step.ticket())) {
                now.say(new PartyMessage.Claim(step.ticket(), step.job()));
            }
        }
        for (TicketSteps.Step step : steps.over(name.id())) {
            Slot slot = slots.get(step.ticket());
            if (slot != null && !reported.contains(step.ticket()) && asked.add("report " + step.ticket())) {
                byte[] part = Envelope.sign(PART, statement, key).bytes();
                now.say(new PartyMessage.Report(step.ticket(), slot.slot(), ByteString.copyFrom(part)));
            }
        }
    }

    /** Whose allocations it takes. */
    Identity relay() {
        return relay;
    }

    /** The slot that it was given for a ticket. */
    synchronized Optional<Slot> slot(String ticket) {
        return Optional.ofNullable(slots.get(ticket));
    }

    synchronized boolean hasReported(String ticket) {
        return reported.contains(ticket);
    }

    synchronized boolean isAttached() {
        return stream != null;
    }

    synchronized List<String> refusals() {
        return List.copyOf(refusals);
    }

    @Override
    public synchronized void heard(TicketStream on, OfficeMessage message) {
        if (message instanceof OfficeMessage.Welcome) {
            asked.clear();
            stream = on;
        } else if (message instanceof OfficeMessage.Claimed claimed) {
            take(claimed);
        } else if (message instanceof OfficeMessage.Reported done) {
            reported.add(done.ticket());
        } else if (message instanceof OfficeMessage.Refused refused) {
            if (refused.clause() == TicketClause.UNAVAILABLE) {
                asked.remove("claim " + refused.ticket());
                asked.remove("report " + refused.ticket());
            } else {
                refusals.add(refused.clause() + ": " + refused.text());
            }
        }
    }

    private void take(OfficeMessage.Claimed claimed) {
        try {
            Identity signer = Chain.parse(claimed.chain().stream()
                            .map(ByteString::toByteArray)
                            .toList())
                    .verifyUnlisted(Set.of(Role.CONTROLLER, Role.OPENER), beliefs.anchors(), Instant.now());
            SignedRequest signed = SignedRequest.read(claimed.ticket().toByteArray(), signer);
            String ticket = signed.id();
            long job = steps.begun(name.id()).stream()
                    .filter(step -> step.ticket().equals(ticket))
                    .mapToLong(TicketSteps.Step::job)
                    .findFirst()
                    .orElse(0);
            Slot slot = ClaimCheck.require(
                    signed,
                    claimed.allocation().toByteArray(),
                    relay,
                    new ClaimCheck.Claimant(key.verificationKey(), job, 0, slots.containsKey(ticket)),
                    Instant.now());
            slots.put(ticket, slot);
        } catch (IOException e) {
            refusals.add("of the host's own: " + e.getMessage());
        }
    }

    @Override
    public synchronized void ended(String why) {
        stream = null;
    }

    @Override
    public void attached(Attachment attachment) {
        TicketStream.open(attachment.link(), Optional.empty(), this);
        attached.accept(attachment.link());
    }

    @Override
    public void served(Name served, Optional<CloseReason> refused) {}

    @Override
    public void dialled(Attachment attachment, RelayMessage.Dial dial) {
        attachment.refuse(dial, CloseReason.REFUSED);
    }

    @Override
    public boolean revoked(byte[] signed) {
        return true;
    }

    @Override
    public void lost(String why) {}

    @Override
    public void close() {
        if (link != null) {
            link.close();
        }
    }
}
