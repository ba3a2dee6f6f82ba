package org.cloister.vm.boot;

import io.netty.channel.EventLoop;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.cloister.protocol.circuit.CloseReason;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.RevocationLists;
import org.cloister.protocol.identity.TrustAnchors;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.link.RelayMessage;
import org.cloister.transport.channel.HostPortDialler;
import org.cloister.transport.link.AgentAttachStream;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.link.AgentLinkListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The channel to the host for as long as agent-vm runs. Reattaches after each loss, and logs each loss and attachment.
 * The listener that the VM's role provides handles revocation lists: a VM without a project knows none of their
 * issuers.
 */
public final class HostChannel implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HostChannel.class);

    private final AgentLink link;
    private final CompletableFuture<Void> attached;

    private HostChannel(AgentLink link, CompletableFuture<Void> attached) {
        this.link = link;
        this.attached = attached;
    }

    /** Opens the device at once, and retries without limit whenever it is lost. */
    public static HostChannel open(
            EventLoop loop,
            Path device,
            String software,
            BootKeyPairs keys,
            ListenerFactory listeners,
            AgentVmStatusFile status,
            HostChannelMetrics metrics) {
        TrustStore trustStore = new TrustStore(TrustAnchors.none(), RevocationLists.none(), InstantSource.system());
        Listener listener = new Listener(listeners.create(keys, new VmTrustStore(trustStore)), status, metrics);
        HostPortDialler dialler = new HostPortDialler(loop, device);
        return new HostChannel(
                new AgentLink(loop, dialler, software, trustStore, listener, new SecureRandom()), listener.attached);
    }

    /** Completes when the channel is attached for the first time. */
    public CompletionStage<Void> attached() {
        return attached;
    }

    @Override
    public void close() {
        link.close();
    }

    private static final class Listener implements AgentLinkListener {
        private final AgentLinkListener role;
        private final AgentVmStatusFile status;
        private final HostChannelMetrics metrics;
        private final CompletableFuture<Void> attached = new CompletableFuture<>();
        /**
         * Reason of the last loss, logged once: a host may be away for long, and each attempt fails in the same way.
         */
        private String lastLoss = "";

        Listener(AgentLinkListener role, AgentVmStatusFile status, HostChannelMetrics metrics) {
            this.role = role;
            this.status = status;
            this.metrics = metrics;
        }

        @Override
        public void onAttached(AgentAttachStream attachment) {
            LOG.info("attached to the host");
            lastLoss = "";
            status.reportPhase(AgentVmPhase.ATTACHED).ifPresent(metrics::channelAttached);
            attached.complete(null);
            role.onAttached(attachment);
        }

        @Override
        public void onLost(String why) {
            if (lastLoss.isEmpty() && attached.isDone()) {
                status.reportPhase(AgentVmPhase.LOST);
                metrics.channelLost();
            }
            if (!why.equals(lastLoss)) {
                LOG.warn("not attached to the host: {}; retrying", why);
            }
            lastLoss = why;
            role.onLost(why);
        }

        @Override
        public void onListRefused(IdentityRefusedException list) {
            LOG.debug("revocation list not accepted: {}", list.getMessage());
            role.onListRefused(list);
        }

        @Override
        public void onServed(CertificateName name, Optional<CloseReason> refused) {
            role.onServed(name, refused);
        }

        @Override
        public void onDial(AgentAttachStream attachment, RelayMessage.Dial dial) {
            role.onDial(attachment, dial);
        }

        @Override
        public boolean onRevocationList(byte[] signed) {
            return role.onRevocationList(signed);
        }

        @Override
        public void onShutdownRequest(Duration within) {
            role.onShutdownRequest(within);
        }

        @Override
        public void onRenewed(Instant until) {
            role.onRenewed(until);
        }

        @Override
        public void onRenewalFailed(String why) {
            role.onRenewalFailed(why);
        }

        @Override
        public void onRenewalRequest(AgentAttachStream attachment, RelayMessage.RenewalRequested renewal) {
            role.onRenewalRequest(attachment, renewal);
        }
    }

    /**
     * Creates the listener that receives the VM's assignment and starts its role: a worker's, or that of a project's
     * controlling VM.
     */
    @FunctionalInterface
    public interface ListenerFactory {
        /**
         * Creates the listener of the channel; called once per boot, before the channel is opened.
         *
         * @param keys of this boot
         * @param trustStore is empty: a VM trusts the people and machines that its project names, once it is
         *     assigned one
         * @return receives the channel's events, on its event loop
         */
        AgentLinkListener create(BootKeyPairs keys, VmTrustStore trustStore);
    }
}
