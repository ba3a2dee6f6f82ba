package org.cloister.vm.boot;

import io.netty.channel.EventLoop;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.cloister.protocol.channel.PortDialler;
import org.cloister.protocol.identity.Anchors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.link.AgentEvents;
import org.cloister.protocol.link.AgentLink;
import org.cloister.protocol.link.Attachment;
import org.cloister.protocol.link.CloseReason;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.vm.VmMetrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The channel to the host for as long as agent-vm runs: attached, lost and attached again, and each time said so. Revocation
 * lists that come down are the business of what has begun: a VM that was told of no project knows none of their issuers.
 */
public final class HostChannel implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HostChannel.class);

    private final AgentLink link;
    private final CompletableFuture<Void> attached;

    private HostChannel(AgentLink link, CompletableFuture<Void> attached) {
        this.link = link;
        this.attached = attached;
    }

    /** Opens the device at once, and for ever again when it is lost. */
    public static HostChannel open(
            EventLoop loop,
            Path device,
            String software,
            BootKeyPairs keys,
            Beginning beginning,
            BootStatus status,
            VmMetrics metrics) {
        Beliefs beliefs = new Beliefs(Anchors.none(), RevocationLists.none(), InstantSource.system());
        Life life = new Life(beginning.begin(keys, new Believed(beliefs)), status, metrics);
        PortDialler port = new PortDialler(loop, device);
        return new HostChannel(new AgentLink(loop, port, software, beliefs, life, new SecureRandom()), life.attached);
    }

    /** When it is attached for the first time. */
    public CompletionStage<Void> attached() {
        return attached;
    }

    @Override
    public void close() {
        link.close();
    }

    private static final class Life implements AgentEvents {
        private final AgentEvents begun;
        private final BootStatus status;
        private final VmMetrics metrics;
        private final CompletableFuture<Void> attached = new CompletableFuture<>();
        /** A host may be away for long; each try fails in the same way. */
        private String lastLoss = "";

        Life(AgentEvents begun, BootStatus status, VmMetrics metrics) {
            this.begun = begun;
            this.status = status;
            this.metrics = metrics;
        }

        @Override
        public void attached(Attachment attachment) {
            LOG.info("attached to the host");
            lastLoss = "";
            say(BootPhase.ATTACHED);
            attached.complete(null);
            begun.attached(attachment);
        }

        @Override
        public void lost(String why) {
            if (lastLoss.isEmpty() && attached.isDone()) {
                say(BootPhase.LOST);
                metrics.lost();
            }
            if (!why.equals(lastLoss)) {
                LOG.warn("not attached to the host: {}; trying again", why);
            }
            lastLoss = why;
            begun.lost(why);
        }

        private void say(BootPhase phase) {
            try {
                double seconds = status.reached(phase);
                if (phase == BootPhase.ATTACHED) {
                    metrics.attached(seconds);
                }
            } catch (IOException e) {
                LOG.warn("status: not written: {}; see the folder it is in", e.toString());
            }
        }

        @Override
        public void refused(IdentityRefused list) {
            LOG.debug("a revocation list was not taken: {}", list.getMessage());
            begun.refused(list);
        }

        @Override
        public void served(Name name, Optional<CloseReason> refused) {
            begun.served(name, refused);
        }

        @Override
        public void dialled(Attachment attachment, RelayMessage.Dial dial) {
            begun.dialled(attachment, dial);
        }

        @Override
        public boolean revoked(byte[] signed) {
            return begun.revoked(signed);
        }

        @Override
        public void askedToLeave(Duration within) {
            begun.askedToLeave(within);
        }

        @Override
        public void renewed(Instant until) {
            begun.renewed(until);
        }

        @Override
        public void notRenewed(String why) {
            begun.notRenewed(why);
        }

        @Override
        public void asked(Attachment attachment, RelayMessage.RenewalAsked renewal) {
            begun.asked(attachment, renewal);
        }
    }
}
