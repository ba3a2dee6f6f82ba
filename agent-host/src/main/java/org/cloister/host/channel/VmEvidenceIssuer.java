package org.cloister.host.channel;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.cloister.base.encoding.MalformedException;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.dsse.SigningKey;
import org.cloister.protocol.evidence.AttestationClaims;
import org.cloister.protocol.evidence.EvidenceMessage;
import org.cloister.protocol.evidence.EvidenceStatementSigner;
import org.cloister.protocol.evidence.IssuanceRefusedException;
import org.cloister.protocol.evidence.VmFacts;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Signs this host's evidence statements, one per VM run. Its calls write to disk and block meanwhile. */
public final class VmEvidenceIssuer {
    private static final Logger LOG = LoggerFactory.getLogger(VmEvidenceIssuer.class);

    private final EvidenceFileStore folder;
    private final EvidenceStatementSigner issuer;
    private final InstantSource clock;
    private final ChannelMetrics metrics;

    /**
     * @param host its name, for people
     * @param folder an existing folder that contains only statements
     */
    public VmEvidenceIssuer(
            String host, SigningKey key, EvidenceFileStore folder, InstantSource clock, ChannelMetrics metrics) {
        this.folder = folder;
        this.issuer = new EvidenceStatementSigner(host, key, folder);
        this.clock = clock;
        this.metrics = metrics;
    }

    /**
     * Issues the statement for a VM. The VM learns of a refusal only that there is no statement; the host logs why.
     *
     * @param claim as the VM sent it
     */
    synchronized EvidenceMessage.Response issue(VmFacts facts, AttestationClaims claim) {
        try {
            EvidenceMessage.Response answer =
                    new EvidenceMessage.Granted(issuer.issue(facts, claim, List.of(), clock.instant()));
            metrics.statementsSigned.inc();
            return answer;
        } catch (IssuanceRefusedException | MalformedException e) {
            LOG.error("{}", e.getMessage());
            metrics.statementsRefused.inc();
            return new EvidenceMessage.Refused(EvidenceMessage.RefusalReason.ANOTHER);
        } catch (IOException | GeneralSecurityException e) {
            LOG.error("evidence for VM {}: {}", facts.vm(), e.toString());
            metrics.statementsFailed.inc();
            return new EvidenceMessage.Refused(EvidenceMessage.RefusalReason.FAILED);
        }
    }

    /**
     * Deletes the statements of VMs that are gone.
     *
     * @param known owners of all ledger entries, also of ending VMs; called while nothing is signed, so that it misses
     *     no new VM
     */
    public synchronized void retain(Supplier<? extends Collection<ResourceOwner>> known) throws IOException {
        folder.retain(known.get().stream().map(ResourceOwner::vmId).collect(Collectors.toSet()));
    }
}
