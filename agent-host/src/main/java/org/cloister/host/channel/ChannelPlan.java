package org.cloister.host.channel;

import java.nio.file.Path;
import java.util.Set;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.evidence.VmFacts;
import org.cloister.protocol.identity.CertificateName;

/**
 * Plan of one VM's channel; all values are the host's own.
 *
 * @param socket that QEMU created for the port {@code org.cloister.agent.0}
 * @param names certificate names that only this VM may serve and connect from
 * @param facts that the host states in evidence
 */
public record ChannelPlan(ResourceOwner owner, Path socket, Set<CertificateName> names, VmFacts facts) {
    /** @throws IllegalArgumentException if the facts belong to another VM */
    public ChannelPlan {
        names = Set.copyOf(names);
        if (!facts.vm().equals(owner.vmId())
                || !facts.project().equals(owner.project())
                || !facts.ticket().equals(owner.ticket())
                || facts.slot() != owner.slot()) {
            throw new IllegalArgumentException(
                    "channel of VM " + owner.uuid() + ": want facts of " + owner + ", have " + facts);
        }
    }
}
