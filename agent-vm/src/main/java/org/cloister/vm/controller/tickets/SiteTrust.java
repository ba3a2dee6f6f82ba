package org.cloister.vm.controller.tickets;

import com.google.protobuf.ByteString;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedIdentity;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.AllocationVerifier;
import org.cloister.protocol.ticket.RelayTicketMessage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A controlling VM's trust in its site: the site's relays may allocate nodes if they are certified by a key that the
 * opener sent and are not revoked by a list of the site. The relay shows its certificates on the ticket stream, since
 * the VM's link belongs to its host. Thread-safe.
 */
public final class SiteTrust {
    private static final Logger LOG = LoggerFactory.getLogger(SiteTrust.class);
    /** Delay until a relay that is not trusted now is checked again. */
    private static final Duration RETRY_DELAY = Duration.ofMinutes(1);

    private static final Set<CertificateRole> RELAYS = Set.of(CertificateRole.RELAY);

    private final TrustStore trustStore;
    /** The relay that last allocated a host, by the host's key. */
    private final Map<VerificationKey, CertifiedIdentity> allocatingRelays = new ConcurrentHashMap<>();

    private volatile @Nullable PresentedChain presented;

    private record PresentedChain(List<byte[]> certificates, CertificateChain chain) {}

    /**
     * A relay that is trusted now.
     *
     * @param chain in DER, leaf first
     */
    public record TrustedRelay(List<byte[]> chain, CertifiedIdentity identity) {
        public TrustedRelay {
            chain = List.copyOf(chain);
        }
    }

    /** @param trustStore has the site's keys, and its lists as they arrive */
    public SiteTrust(TrustStore trustStore) {
        this.trustStore = trustStore;
    }

    /**
     * Stores the certificates that a relay shows. They are not trusted before the relay sends an allocation.
     *
     * @return time after which the relay should show newer certificates, if possible before these expire
     */
    public Duration onWelcome(RelayTicketMessage.Welcome welcome) {
        try {
            List<byte[]> certificates =
                    welcome.chain().stream().map(ByteString::toByteArray).toList();
            CertificateChain chain = CertificateChain.parse(certificates);
            presented = new PresentedChain(certificates, chain);
            Instant until = trustStore.verifyUnlisted(chain, RELAYS).notAfter();
            Duration halfTime = Duration.between(trustStore.now(), until).dividedBy(2);
            return halfTime.compareTo(RETRY_DELAY) < 0 ? RETRY_DELAY : halfTime;
        } catch (IdentityRefusedException e) {
            LOG.error("relay: not trusted, so its allocations are refused: {}", e.getMessage());
            return RETRY_DELAY;
        }
    }

    /**
     * Verifies an allocation.
     *
     * @throws IOException if the relay that showed its certificates last did not sign it, or is not trusted now
     */
    public Allocation verifyAllocation(byte[] envelope) throws IOException {
        PresentedChain presentedChain = presented;
        if (presentedChain == null) {
            throw new IOException("allocation: the relay that signed it has not shown its certificates;"
                    + " check the relay's release");
        }
        CertifiedIdentity relay = trustStore.verify(presentedChain.chain, RELAYS);
        Allocation allocation = AllocationVerifier.read(envelope, relay);
        allocation.slots().forEach(slot -> allocatingRelays.put(slot.key(), relay));
        return allocation;
    }

    /** Returns the relay that showed its certificates last; empty if it is not trusted now. */
    public Optional<TrustedRelay> trustedRelay() {
        PresentedChain presentedChain = presented;
        if (presentedChain == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(
                    new TrustedRelay(presentedChain.certificates, trustStore.verify(presentedChain.chain, RELAYS)));
        } catch (IdentityRefusedException e) {
            LOG.warn("relay: {}", e.getMessage());
            return Optional.empty();
        }
    }

    /**
     * Returns whether a worker on this host must not receive anything: a list names the host's key, or the relay that
     * allocated it is not trusted now. Without a list in force, no host and no relay of the site is trusted.
     */
    public boolean isUntrusted(VerificationKey host) {
        CertifiedIdentity relay = allocatingRelays.get(host);
        if (relay == null || isKeyRevoked(host)) {
            return true;
        }
        try {
            trustStore.require(relay);
            return false;
        } catch (IdentityRefusedException e) {
            LOG.warn("host {}: the relay that allocated it is no longer trusted: {}", host, e.getMessage());
            return true;
        }
    }

    /**
     * Returns whether a list of the site names the host's key. An expired list counts, too: missing information ends no
     * worker, since its lease does, but a revocation remains valid.
     */
    public boolean isKeyRevoked(VerificationKey host) {
        Collection<VerificationKey> anchors = trustStore.anchors().of(CertificateName.SITE);
        return trustStore.lists().all().stream()
                .filter(list -> anchors.contains(list.anchor()))
                .anyMatch(list -> list.revokes(host));
    }
}
