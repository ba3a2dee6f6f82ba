package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.dsse.DsseEnvelope;
import org.cloister.protocol.dsse.SignatureCurve;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.protocol.identity.CertificateChain;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.policy.ProjectPolicy;
import org.cloister.protocol.ticket.ProjectTrustBundle;
import org.cloister.protocol.ticket.Ticket;

/**
 * Everything that a controlling VM receives from the opener's agentctl. The VM itself verifies certificates, documents
 * and policy, against the project of its assignment.
 *
 * @param target the opening's, slot 0
 * @param authorities in DER: the VM's own for its boot key, and the one above it if an owner did not sign that
 * @param documents of the project, genesis and successors in order, envelopes
 * @param policy the owners', an envelope
 * @param siteKeys keys of the site's CA that the opener trusts: a VM knows no site, and relays sign the VM's
 *     allocations
 * @param epoch of the drive, the opening's
 * @param driveKey sealed with {@link #sealingContext}
 * @param create whether the drive is new and must be formatted; a drive that is not empty is then refused
 * @param network the network's first address is the VM's
 * @param members the project's members file, which agent-vm reads; if empty, the drive's file applies
 * @param settings the settings file of its queue, which agent-vm reads; if empty, the drive's file applies
 */
public record ProjectUnlock(
        HandoverTarget target,
        List<ByteString> authorities,
        List<ByteString> documents,
        ByteString policy,
        List<VerificationKey> siteKeys,
        long epoch,
        SealedSecret driveKey,
        boolean create,
        Instant time,
        VmNetworkConfig network,
        Optional<ByteString> members,
        Optional<ByteString> settings)
        implements VerifierMessage {
    /** Limit of {@link #members} in bytes: 2,000 members with the longest logins have 160,000. */
    public static final int MAX_MEMBERS = 256 << 10;
    /** Limit of {@link #settings} in bytes. */
    public static final int MAX_SETTINGS = 64 << 10;

    static final int MAX_POLICY = 1536 * 1024;
    /** Two during a change of the key, and two to spare. */
    static final int MAX_SITE_KEYS = 4;

    private static final int MAX_AUTHORITIES = 2;

    /** @throws IllegalArgumentException if a value is out of its range, or two values are inconsistent */
    public ProjectUnlock {
        authorities = List.copyOf(authorities);
        documents = List.copyOf(documents);
        HandoverChecks.within("slot of a controlling VM", target.slot(), 0, 0);
        HandoverChecks.within("authorities", authorities.size(), 1, MAX_AUTHORITIES);
        for (ByteString authority : authorities) {
            HandoverChecks.within("bytes of an authority", authority.size(), 1, CertificateChain.MAX_CERTIFICATE);
        }
        HandoverChecks.within("documents", documents.size(), 1, ProjectHistory.MAX_DOCUMENTS);
        HandoverChecks.within(
                "bytes of the documents",
                documents.stream().mapToLong(ByteString::size).sum(),
                1,
                ProjectTrustBundle.MAX_DOCUMENTS);
        requirePolicy(policy);
        siteKeys = List.copyOf(siteKeys);
        requireSite(siteKeys);
        HandoverChecks.within("epoch", epoch, 1, Ticket.MAX_COUNT);
        HandoverChecks.time(time);
        HandoverChecks.that(
                network.address().equals(network.network().controller()),
                "address",
                "the first of " + network.network(),
                network.address());
        members.ifPresent(file -> HandoverChecks.within("bytes of the members", file.size(), 0, MAX_MEMBERS));
        settings.ifPresent(file -> HandoverChecks.within("bytes of the settings", file.size(), 0, MAX_SETTINGS));
    }

    /**
     * Returns HPKE's {@code info} for {@link #driveKey}; the additional data is empty.
     *
     * @param project the assignment's
     */
    public byte[] sealingContext(String project) {
        return SealingContext.unlock(project, target, epoch);
    }

    private static void requireSite(List<VerificationKey> keys) {
        HandoverChecks.within("site keys", keys.size(), 1, MAX_SITE_KEYS);
        for (VerificationKey key : keys) {
            HandoverChecks.that(key.curve() == SignatureCurve.P256, "site key", "P-256", key.curve());
        }
        HandoverChecks.that(keys.stream().distinct().count() == keys.size(), "site keys", "each once", "one twice");
    }

    private static void requirePolicy(ByteString policy) {
        try {
            String type = DsseEnvelope.parse(policy.toByteArray(), MAX_POLICY).payloadType();
            HandoverChecks.that(
                    type.equals(ProjectPolicy.TYPE), "policy", ProjectPolicy.TYPE, HandoverChecks.other(type));
        } catch (MalformedException e) {
            throw new IllegalArgumentException("policy: " + e.getMessage(), e);
        }
    }
}
