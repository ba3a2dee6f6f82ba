package org.cloister.vm.ticket;

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
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.protocol.ticket.ClaimCheck;
import org.cloister.protocol.ticket.OfficeMessage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The site, as far as a controlling VM believes it: its relays may give nodes, as long as they are certified by a key that the
 * opener has brought and no list of the site's takes them back. The relay shows its certificates on the stream of tickets, for
 * the VM's link is its host's. From any thread.
 */
public final class Site {
    private static final Logger LOG = LoggerFactory.getLogger(Site.class);
    /** Another look at a relay that is not believed now. */
    private static final Duration SOON = Duration.ofMinutes(1);

    private static final Set<Role> RELAYS = Set.of(Role.RELAY);

    private final Beliefs beliefs;
    /** By the hosts' keys, who has given them last. */
    private final Map<VerificationKey, Identity> givers = new ConcurrentHashMap<>();

    private volatile @Nullable Shown shown;

    private record Shown(List<byte[]> certificates, Chain chain) {}

    /**
     * A relay that is believed now.
     *
     * @param chain in DER, the leaf first
     */
    public record Relay(List<byte[]> chain, Identity identity) {
        public Relay {
            chain = List.copyOf(chain);
        }
    }

    /** @param beliefs with the site's keys, and its lists as they come */
    public Site(Beliefs beliefs) {
        this.beliefs = beliefs;
    }

    /**
     * A relay shows who it is. Nothing is believed of it before it gives something.
     *
     * @return after how long it should show newer certificates, if all is well before these end
     */
    public Duration welcomed(OfficeMessage.Welcome welcome) {
        try {
            List<byte[]> certificates =
                    welcome.chain().stream().map(ByteString::toByteArray).toList();
            Chain chain = Chain.parse(certificates);
            shown = new Shown(certificates, chain);
            Instant until = beliefs.verifyUnlisted(chain, RELAYS).until();
            Duration half = Duration.between(beliefs.now(), until).dividedBy(2);
            return half.compareTo(SOON) < 0 ? SOON : half;
        } catch (IdentityRefused e) {
            LOG.error("relay: gives no nodes that are taken: {}", e.getMessage());
            return SOON;
        }
    }

    /**
     * Opens an allocation.
     *
     * @throws IOException if the relay that has shown itself last did not sign it, or is not believed now
     */
    public Allocation open(byte[] envelope) throws IOException {
        Shown last = shown;
        if (last == null) {
            throw new IOException("allocation: want the certificates of the relay that signed it, have none yet;"
                    + " look at the relay's release");
        }
        Identity relay = beliefs.verify(last.chain, RELAYS);
        Allocation given = ClaimCheck.read(envelope, relay);
        given.slots().forEach(slot -> givers.put(slot.key(), relay));
        return given;
    }

    /** Who has shown itself last; empty if that is nobody who is believed now. */
    public Optional<Relay> relay() {
        Shown last = shown;
        if (last == null) {
            return Optional.empty();
        }
        try {
            return Optional.of(new Relay(last.certificates, beliefs.verify(last.chain, RELAYS)));
        } catch (IdentityRefused e) {
            LOG.warn("relay: {}", e.getMessage());
            return Optional.empty();
        }
    }

    /**
     * Whether nothing is to be given to a worker of this host: a list names its key, or the relay that has given it is not
     * believed now. Without a list in force nobody of the site is believed.
     */
    public boolean isRevoked(VerificationKey host) {
        Identity giver = givers.get(host);
        if (giver == null || isTakenBack(host)) {
            return true;
        }
        try {
            beliefs.require(giver);
            return false;
        } catch (IdentityRefused e) {
            LOG.warn("host {}: the site's word for it holds no more: {}", host, e.getMessage());
            return true;
        }
    }

    /**
     * Whether a list of the site's names the host's key. It counts also when the list has ended: what is not known any more ends
     * no worker, its lease does, but what was said stays said.
     */
    public boolean isTakenBack(VerificationKey host) {
        Collection<VerificationKey> anchors = beliefs.anchors().of(Name.SITE);
        return beliefs.lists().all().stream()
                .filter(list -> anchors.contains(list.anchor()))
                .anyMatch(list -> list.revokes(host));
    }
}
