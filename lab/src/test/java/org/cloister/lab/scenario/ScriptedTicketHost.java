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
import org.cloister.lab.relay.RelaySiteFiles;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.AgentTicketMessage;
import org.cloister.protocol.ticket.AllocatedSlot;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.cloister.protocol.ticket.SignedRequest;
import org.cloister.protocol.ticket.TicketClause;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.cloister.transport.link.ClientLink;
import org.cloister.transport.link.TicketStream;
import org.cloister.transport.tls.TlsCredential;
import org.jspecify.annotations.Nullable;

/** A compute host without VMs: it claims a slot for each step on its node, checks what comes, and reports when the step is over. */
final class ScriptedTicketHost implements AgentLinkListener, TicketStream.Events, AutoCloseable {
    private static final String PART = "application/vnd.in-toto+json";

    private final CertificateName name;
    private final TicketSteps steps;
    private final byte[] statement;
    private final Consumer<ClientLink> attached;
    private final TlsCredential own;
    private final SigningKey key;
    private final TrustStore trustStore;
    private final CertifiedIdentity relay;

    // Guarded by this object's monitor.
    private final Map<String, AllocatedSlot> slots = new HashMap<>();
    private final Set<String> reported = new HashSet<>();
    private final List<String> refusals = new ArrayList<>();
    /** On the present stream. */
    private final Set<String> claimed = new HashSet<>();

    private @Nullable TicketStream stream;
    private @Nullable AgentLink link;

    /**
     * @param statement of each of its parts of receipts
     * @param attached hears each new link to the relay
     */
    ScriptedTicketHost(
            RelaySiteFiles site,
            CertificateName name,
            TicketSteps steps,
            byte[] statement,
            Consumer<ClientLink> attached)
            throws IOException, GeneralSecurityException {
        this.name = name;
        this.steps = steps;
        this.statement = statement.clone();
        this.attached = attached;
        this.own = site.credential(name);
        this.key = key(own);
        this.trustStore = site.beliefs();
        this.relay = CertificateChain.of(site.credential(RelaySiteFiles.RELAY).chain())
                .verifyUnlisted(Set.of(CertificateRole.RELAY), trustStore.anchors(), Instant.now());
    }

    static SigningKey key(TlsCredential own) throws IOException, GeneralSecurityException {
        return SigningKey.of(new KeyPair(own.chain().get(0).getPublicKey(), own.key()));
    }

    void attach(EventLoopGroup loops, int port) {
        AgentLink.Settings terms = new AgentLink.Settings(
                List.of(RelaySiteFiles.loopback(port)),
                () -> own,
                trust -> trust.only(RelaySiteFiles.RELAY),
                trustStore,
                "lab");
        link = new AgentLink(loops, terms, this, new SecureRandom());
    }

    /** Looks what its node runs; called again and again. */
    synchronized void poll() throws IOException, GeneralSecurityException {
        TicketStream now = stream;
        if (now == null) {
            return;
        }
        for (TicketSteps.Step step : steps.started(name.id())) {
            if (!slots.containsKey(step.ticket()) && claimed.add("claim " + step.ticket())) {
                now.send(new AgentTicketMessage.Claim(step.ticket(), step.job()));
            }
        }
        for (TicketSteps.Step step : steps.ended(name.id())) {
            AllocatedSlot slot = slots.get(step.ticket());
            if (slot != null && !reported.contains(step.ticket()) && claimed.add("report " + step.ticket())) {
                byte[] part = DsseEnvelope.sign(PART, statement, key).bytes();
                now.send(new AgentTicketMessage.Report(step.ticket(), slot.slot(), ByteString.copyFrom(part)));
            }
        }
    }

    /** Whose allocations it takes. */
    CertifiedIdentity relay() {
        return relay;
    }

    /** The slot that it was given for a ticket. */
    synchronized Optional<AllocatedSlot> slot(String ticket) {
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
    public synchronized void onMessage(TicketStream on, RelayTicketMessage message) {
        if (message instanceof RelayTicketMessage.Welcome) {
            this.claimed.clear();
            stream = on;
        } else if (message instanceof RelayTicketMessage.Claimed claimed) {
            accept(claimed);
        } else if (message instanceof RelayTicketMessage.StatementStored done) {
            reported.add(done.ticket());
        } else if (message instanceof RelayTicketMessage.Refused refused) {
            if (refused.clause() == TicketClause.UNAVAILABLE) {
                this.claimed.remove("claim " + refused.ticket());
                this.claimed.remove("report " + refused.ticket());
            } else {
                refusals.add(refused.clause() + ": " + refused.text());
            }
        }
    }

    private void accept(RelayTicketMessage.Claimed claimed) {
        try {
            CertifiedIdentity signer = CertificateChain.parse(claimed.chain().stream()
                            .map(ByteString::toByteArray)
                            .toList())
                    .verifyUnlisted(
                            Set.of(CertificateRole.CONTROLLER, CertificateRole.OPENER),
                            trustStore.anchors(),
                            Instant.now());
            SignedRequest signed = SignedRequest.read(claimed.ticket().toByteArray(), signer);
            String ticket = signed.id();
            long job = steps.started(name.id()).stream()
                    .filter(step -> step.ticket().equals(ticket))
                    .mapToLong(TicketSteps.Step::job)
                    .findFirst()
                    .orElse(0);
            AllocatedSlot slot = AllocationVerifier.require(
                    signed,
                    claimed.allocation().toByteArray(),
                    relay,
                    new AllocationVerifier.Claimant(key.verificationKey(), job, 0, slots.containsKey(ticket)),
                    Instant.now());
            slots.put(ticket, slot);
        } catch (IOException e) {
            refusals.add("of the host's own: " + e.getMessage());
        }
    }

    @Override
    public synchronized void onClosed(String why) {
        stream = null;
    }

    @Override
    public void onAttached(AgentAttachStream attachment) {
        TicketStream.open(attachment.link(), Optional.empty(), this);
        attached.accept(attachment.link());
    }

    @Override
    public void onServed(CertificateName served, Optional<CloseReason> refused) {}

    @Override
    public boolean onRevocationList(byte[] signed) {
        return true;
    }

    @Override
    public void onLost(String why) {}

    @Override
    public void close() {
        if (link != null) {
            link.close();
        }
    }
}
