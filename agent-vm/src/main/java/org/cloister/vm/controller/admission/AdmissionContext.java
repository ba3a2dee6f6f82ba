package org.cloister.vm.controller.admission;

import java.io.IOException;
import java.util.Set;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.CertifiedPeerVerifier;
import org.cloister.protocol.identity.TrustStore;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.ticket.Allocation;
import org.cloister.transport.tls.TlsCredential;

/**
 * Identity and trust of the controlling VM.
 *
 * @param own its current credential for its name and boot, read when a circuit opens
 * @param trustStore accepts workers that a controlling VM of this name certified, this one or an earlier one
 * @param allocationVerifier verifies a relay's signed allocation
 * @param policy the owners' policy in force
 * @param driveIntegrity whether changes of the project's drive are detected
 */
public record AdmissionContext(
        Supplier<TlsCredential> own,
        TrustStore trustStore,
        AllocationVerifier allocationVerifier,
        ProjectPolicy policy,
        HostTrust hostTrust,
        boolean driveIntegrity) {
    CertifiedPeerVerifier workers() {
        return CertifiedPeerVerifier.forRoles(trustStore, Set.of(CertificateRole.WORKER));
    }

    /**
     * The site's current trust in hosts, by their keys.
     *
     * @param untrusted whether a worker on the host must not receive anything
     * @param keyRevoked whether an admitted worker on the host must end
     */
    public record HostTrust(Predicate<VerificationKey> untrusted, Predicate<VerificationKey> keyRevoked) {}

    /** Verifies a received allocation. */
    @FunctionalInterface
    public interface AllocationVerifier {
        /**
         * Verifies an allocation.
         *
         * @throws IOException if no relay of the site signed it
         */
        Allocation verify(byte[] envelope) throws IOException;
    }
}
