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
 * The site, as far as a controlling VM believes it: its relays may give nodes, as long as they are certified by a key that the
 * opener has brought and no list of the site's takes them back. The relay shows its certificates on the stream of tickets, for
 * the VM's link is its host's. From any thread.
 */
public final class SiteTrust {
    private static final Logger LOG = LoggerFactory.getLogger(SiteTrust.class);
    /** Another look at a relay that is not believed now. */
    private static final Duration SOON = Duration.ofMinutes(1);

    private static final Set<CertificateRole> RELAYS = Set.of(CertificateRole.RELAY);

    private final TrustStore beliefs;
    /** By the hosts' keys, who has given them last. */
    private final Map<VerificationKey, CertifiedIdentity> givers = new ConcurrentHashMap<>();

    private volatile @Nullable PresentedChain shown;

    private record PresentedChain(List<byte[]> certificates, CertificateChain chain) {}

    /**
     * A relay that is believed now.
     *
     * @param chain in DER, the leaf first
     */
    public record TrustedRelay(List<byte[]> chain, CertifiedIdentity identity) {
        public TrustedRelay {
            chain = List.copyOf(chain);
        }
    }

    /** @param beliefs with the site's keys, and its lists as they come */
    public SiteTrust(TrustStore beliefs) {
        this.beliefs = beliefs;
    }

    /**
     * A relay shows who it is. Nothing is believed of it before it gives something.
     *
     * @return after how long it should show newer certificates, if all is well before these end
     */
    public Duration onWelcome(RelayTicketMessage.Welcome welcome) {
        try {
            List<byte[]> certificates =
                    welcome.chain().stream().map(ByteString::toByteArray).toList();
            CertificateChain chain = CertificateChain.parse(certificates);
            shown = new PresentedChain(certificates, chain);
            Instant until = beliefs.verifyUnlisted(chain, RELAYS).notAfter();
            Duration half = Duration.between(beliefs.now(), until).dividedBy(2);
            return half.compareTo(SOON) < 0 ? SOON : half;
        } catch (IdentityRefusedException e) {
            LOG.error("relay: gives no nodes that are taken: {}", e.getMessage());
            return SOON;
        }
    }

    /**
     * Opens an allocation.
     *
     * @throws IOException if the relay that has shown itself last did not sign it, or is not believed now
     */
    public Allocation verifyAllocation(byte[] envelope) throws IOException {
        PresentedChain last = shown;
        if (last == null) {
            throw new IOException("allocation: want the certificates of the relay that signed it, have none yet;"
                    + " look at the relay's release");
        }
        CertifiedIdentity relay = beliefs.verify(last.chain, RELAYS);
        Allocation given = AllocationVerifier.read(envelope, relay);
        given.slots().forEach(slot -> givers.put(slot.key(), relay));
        return given;
    }

    /** Who has shown itself last; empty if that is nobody who is believed now. */
    public Optional<TrustedRelay> trustedRelay() {
        PresentedChain last = shown;
        if (last == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(new TrustedRelay(last.certificates, beliefs.verify(last.chain, RELAYS)));
        } catch (IdentityRefusedException e) {
            LOG.warn("relay: {}", e.getMessage());
            return Optional.empty();
        }
    }

    /**
     * Whether nothing is to be given to a worker of this host: a list names its key, or the relay that has given it is not
     * believed now. Without a list in force nobody of the site is believed.
     */
    public boolean isUntrusted(VerificationKey host) {
        CertifiedIdentity giver = givers.get(host);
        if (giver == null || isKeyRevoked(host)) {
            return true;
        }
        try {
            beliefs.require(giver);
            return false;
        } catch (IdentityRefusedException e) {
            LOG.warn("host {}: the site's word for it holds no more: {}", host, e.getMessage());
            return true;
        }
    }

    /**
     * Whether a list of the site's names the host's key. It counts also when the list has ended: what is not known any more ends
     * no worker, its lease does, but what was said stays said.
     */
    public boolean isKeyRevoked(VerificationKey host) {
        Collection<VerificationKey> anchors = beliefs.anchors().of(CertificateName.SITE);
        return beliefs.lists().all().stream()
                .filter(list -> anchors.contains(list.anchor()))
                .anyMatch(list -> list.revokes(host));
    }
}
