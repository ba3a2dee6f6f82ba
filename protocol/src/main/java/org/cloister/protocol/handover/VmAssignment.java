package org.cloister.protocol.handover;

import com.google.protobuf.ByteString;
import java.io.IOException;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.ProjectHistory;

/**
 * What a VM is, as its host says: the host may lie about all of it but the project, whose documents verify and whose id is
 * their digest. Of whom the VM takes keys, these documents decide, and with {@link #requester} which one of them.
 *
 * @param name the VM's own
 * @param ticket of a controlling VM the opening's id
 * @param requester of a worker the controlling VM, of that the opener
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
     * @param told by the host
     * @throws MalformedException if the documents are no project's, or another's
     * @throws org.cloister.protocol.identity.IdentityRefusedException if they are not signed by those who must
     */
    public static VmAssignment of(AssignmentMessage.Assigned told) throws IOException {
        ProjectHistory project = ProjectHistory.of(
                told.documents().stream().map(ByteString::toByteArray).toList());
        if (!project.id().equals(told.name().project())) {
            throw new MalformedException(
                    "assignment: want documents of " + told.name().project() + ", have those of " + project.id());
        }
        return new VmAssignment(
                told.name(),
                CertificateRole.of(told.name().role()).orElseThrow(),
                told.ticket(),
                told.slot(),
                told.requester(),
                project);
    }
}
