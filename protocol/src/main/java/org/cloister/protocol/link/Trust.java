package org.cloister.protocol.link;

import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.cloister.protocol.identity.Beliefs;
import org.cloister.protocol.identity.Chain;
import org.cloister.protocol.identity.Identity;
import org.cloister.protocol.identity.IdentityRefused;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;

/** Decides whose chain of certificates this is: somebody's who was certified. */
@FunctionalInterface
public interface Trust extends Acceptance {
    @Override
    Identity verify(List<X509Certificate> chain) throws CertificateException;

    /** Whoever is believed and has one of these roles. */
    static Trust in(Beliefs beliefs, Set<Role> roles) {
        return chain -> {
            try {
                return beliefs.verify(Chain.of(chain), roles);
            } catch (IdentityRefused e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }

    /** Relays. They bring the list with them that could deny them, so it is asked after the handshake: {@link AgentLink}. */
    static Trust inRelays(Beliefs beliefs) {
        return chain -> {
            try {
                return beliefs.verifyUnlisted(Chain.of(chain), Set.of(Role.RELAY));
            } catch (IdentityRefused e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }

    /**
     * Who dials a relay. The site's desk comes without a list being asked, for it brings the site's: without it a relay
     * whose list has ended could never have another one.
     */
    static Trust inAgents(Beliefs beliefs) {
        return chain -> {
            try {
                Chain shown = Chain.of(chain);
                return shown.claimed().role().equals(Role.DESK.toString())
                        ? beliefs.verifyUnlisted(shown, Set.of(Role.DESK))
                        : beliefs.verify(shown, Set.of(Role.HOST, Role.DEVICE));
            } catch (IdentityRefused e) {
                throw new CertificateException(e.getMessage(), e);
            }
        };
    }

    /** The parties of circuits. */
    static Trust inParties(Beliefs beliefs) {
        return in(beliefs, Set.of(Role.OWNER, Role.OPENER, Role.MEMBER, Role.EXPORTER, Role.CONTROLLER, Role.WORKER));
    }

    /** The same, and nobody but {@code wanted}. */
    default Trust only(Name wanted) {
        return among(Set.of(wanted));
    }

    /** The same, and nobody but these. */
    default Trust among(Set<Name> wanted) {
        return chain -> {
            Identity found = verify(chain);
            if (!wanted.contains(found.name())) {
                String names = wanted.stream().map(Name::toString).sorted().collect(Collectors.joining(" or "));
                throw new CertificateException("certificate: want " + names + ", have " + found.name());
            }
            return found;
        };
    }
}
