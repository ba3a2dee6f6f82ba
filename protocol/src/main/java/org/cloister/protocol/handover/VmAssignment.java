package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.io.IOException;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;

/**
 * Assignment of a VM as its host states it. The host may lie about everything but the project, whose documents are
 * verified and whose id is their digest. These documents and {@link #requester} determine from whom the VM accepts
 * keys.
 *
 * @param name the VM's own
 * @param ticket for a controlling VM the opening's id
 * @param requester for a worker the controlling VM, for a controlling VM the opener
 * @param project as far as the host has it: there may be later documents
 */
public record VmAssignment(
        CertificateName name,
        CertificateRole role,
        String ticket,
        int slot,
        CertificateName requester,
        ProjectHistory project) {
    /**
     * Verifies the project's documents in a host's message.
     *
     * @param assigned the host's message
     * @throws MalformedException if the documents are not a project's, or are another project's
     * @throws org.cloister.protocol.identity.IdentityRefusedException if the required owners did not sign them
     */
    public static VmAssignment of(AssignmentMessage.Assigned assigned) throws IOException {
        ProjectHistory project = ProjectHistory.of(
                assigned.documents().stream().map(ByteString::toByteArray).toList());
        if (!project.id().equals(assigned.name().project())) {
            throw new MalformedException(
                    "assignment: want documents of " + assigned.name().project() + ", have those of " + project.id());
        }
        return new VmAssignment(
                assigned.name(),
                CertificateRole.of(assigned.name().role()).orElseThrow(),
                assigned.ticket(),
                assigned.slot(),
                assigned.requester(),
                project);
    }
}
