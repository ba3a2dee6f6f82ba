package org.cloister.protocol.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import org.cloister.base.encoding.MalformedException;
import org.cloister.protocol.handover.wire.AssignmentAnswer;
import org.cloister.protocol.handover.wire.AssignmentQuestion;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.protocol.identity.IdentityRefusedException;
import org.cloister.protocol.identity.ProjectHistory;
import org.cloister.protocol.link.ProtocolLimits;
import org.cloister.protocol.ticket.Opening;
import org.cloister.protocol.ticket.ProjectTrustBundle;
import org.junit.jupiter.api.Test;

class VmAssignmentTest {
    private final BootFixture world = new BootFixture();

    VmAssignmentTest() throws Exception {}

    @Test
    void reads_back_what_it_writes() throws Exception {
        AssignmentMessage.Assigned assigned = world.assigned();
        assertThat(AssignmentMessage.readResponse(assigned.wire().toByteArray()))
                .isEqualTo(assigned);
        for (AssignmentMessage.RefusalReason why : AssignmentMessage.RefusalReason.values()) {
            AssignmentMessage.Refused refused = new AssignmentMessage.Refused(why);
            assertThat(AssignmentMessage.readResponse(refused.wire().toByteArray()))
                    .isEqualTo(refused);
        }
        AssignmentMessage.Request request = new AssignmentMessage.Request();
        assertThat(AssignmentMessage.readRequest(request.wire().toByteArray())).isEqualTo(request);
    }

    @Test
    void a_vm_takes_the_project_by_its_documents_and_the_rest_as_it_is_told() throws Exception {
        VmAssignment worker = VmAssignment.of(world.assigned());
        assertThat(worker.project().id()).isEqualTo(world.project.id());
        assertThat(worker.project().number()).isEqualTo(2);
        assertThat(worker.role()).isEqualTo(CertificateRole.WORKER);
        assertThat(worker.name()).isEqualTo(world.worker);
        assertThat(worker.requester()).isEqualTo(world.controller);
        VmAssignment controller = VmAssignment.of(new AssignmentMessage.Assigned(
                world.controller, BootFixture.OPENING, 0, world.opener, world.documents()));
        assertThat(controller.role()).isEqualTo(CertificateRole.CONTROLLER);
        assertThat(controller.name().id()).isEqualTo("main");
    }

    @Test
    void a_controlling_vm_is_called_as_its_drive_and_as_no_number_nor_every_machine() {
        for (String drive : new String[] {"a", "main", "x2-3", "a".repeat(32)}) {
            new AssignmentMessage.Assigned(
                    Opening.controller(drive, world.project.id()),
                    BootFixture.OPENING,
                    0,
                    world.opener,
                    world.documents());
        }
        for (String other : new String[] {"1", "0x7f", "localhost", "a".repeat(33)}) {
            assertThatThrownBy(() -> new AssignmentMessage.Assigned(
                            Opening.controller(other, world.project.id()),
                            BootFixture.OPENING,
                            0,
                            world.opener,
                            world.documents()))
                    .hasMessageContaining("name: want a drive's name in front");
        }
    }

    private void refused(List<ByteString> documents, Class<? extends Throwable> how, String why) {
        AssignmentMessage.Assigned assigned =
                new AssignmentMessage.Assigned(world.worker, BootFixture.TICKET, 3, world.controller, documents);
        assertThatThrownBy(() -> VmAssignment.of(assigned)).isInstanceOf(how).hasMessageContaining(why);
    }

    @Test
    void documents_that_are_not_the_projects_whole_history_make_no_assignment() throws Exception {
        List<ByteString> documents = world.documents();
        List<ByteString> other = new BootFixture().documents();
        refused(other, MalformedException.class, "want documents of " + world.project.id());
        refused(List.of(documents.get(0), other.get(1)), IdentityRefusedException.class, "project");
        refused(List.of(documents.get(0), documents.get(2)), IdentityRefusedException.class, "number");
        refused(documents.subList(1, 3), MalformedException.class, "format");
        refused(List.of(ByteString.copyFromUtf8("{}")), MalformedException.class, "payload");
        String forged = documents.get(1).toStringUtf8().replaceFirst("(\"sig\":\"[^\"]{40})....", "$1AAAA");
        refused(
                List.of(documents.get(0), ByteString.copyFromUtf8(forged)),
                IdentityRefusedException.class,
                "signatures");
    }

    private void malformed(Consumer<org.cloister.protocol.handover.wire.Assignment.Builder> change, String why) {
        org.cloister.protocol.handover.wire.Assignment.Builder assignment =
                world.assigned().wire().getAssignment().toBuilder();
        change.accept(assignment);
        AssignmentAnswer answer =
                AssignmentAnswer.newBuilder().setAssignment(assignment).build();
        assertThatThrownBy(() -> AssignmentMessage.readResponse(answer.toByteArray()))
                .isInstanceOf(MalformedException.class)
                .hasMessageContaining(why);
    }

    @Test
    void what_does_not_go_together_is_no_assignment() {
        String other = "b".repeat(51) + "a";
        malformed(assigned -> assigned.clearName(), "name");
        malformed(assigned -> assigned.setName(world.opener.toString()), "role");
        malformed(
                assigned -> assigned.setName(new CertificateName("w1", "worker", world.project.id()).toString()),
                "mfrggzdfmztwq2lk-3");
        malformed(assigned -> assigned.setTicket("mfrg"), "ticket");
        malformed(assigned -> assigned.setTicket(BootFixture.OPENING), "name");
        malformed(assigned -> assigned.setSlot(4), "name");
        malformed(assigned -> assigned.setSlot(4096), "slot");
        malformed(assigned -> assigned.setSlot(-1), "4294967295");
        malformed(assigned -> assigned.setRequester(world.opener.toString()), "requester");
        malformed(
                assigned -> assigned.setRequester(
                        Opening.controller(BootFixture.DRIVE, other).toString()),
                "requester");
        malformed(assigned -> assigned.setName(world.controller.toString()), "slot of a controlling VM");
        malformed(assigned -> assigned.clearDocuments(), "documents");
        malformed(
                assigned ->
                        assigned.addAllDocuments(Collections.nCopies(ProjectHistory.MAX_DOCUMENTS, ByteString.EMPTY)),
                "documents");
        malformed(
                assigned -> assigned.addDocuments(ByteString.copyFrom(new byte[ProjectTrustBundle.MAX_DOCUMENTS])),
                "1048576");
    }

    @Test
    void an_answer_is_one_of_both_and_knows_what_is_critical() {
        for (AssignmentAnswer wrong : new AssignmentAnswer[] {
            AssignmentAnswer.getDefaultInstance(),
            AssignmentAnswer.newBuilder().setRefused("").build(),
            AssignmentAnswer.newBuilder().setRefused("Busy").build(),
            AssignmentAnswer.newBuilder().setRefused("busy").addCritical(4).build()
        }) {
            assertThatThrownBy(() -> AssignmentMessage.readResponse(wrong.toByteArray()))
                    .isInstanceOf(MalformedException.class);
        }
        assertThatThrownBy(() -> AssignmentMessage.readRequest(
                        AssignmentQuestion.newBuilder().addCritical(2).build().toByteArray()))
                .hasMessageContaining("critical");
        assertThatThrownBy(() -> AssignmentMessage.readRequest(new byte[] {10, 9}))
                .isInstanceOf(MalformedException.class);
    }

    @Test
    void the_longest_assignment_fits() {
        int each = ProjectTrustBundle.MAX_DOCUMENTS / ProjectHistory.MAX_DOCUMENTS;
        List<ByteString> documents = new ArrayList<>(
                Collections.nCopies(ProjectHistory.MAX_DOCUMENTS - 1, ByteString.copyFrom(new byte[each])));
        int rest = ProjectTrustBundle.MAX_DOCUMENTS - each * documents.size();
        documents.add(ByteString.copyFrom(new byte[rest]));
        AssignmentMessage.Assigned assigned =
                new AssignmentMessage.Assigned(world.worker, BootFixture.TICKET, 3, world.controller, documents);
        assertThat(assigned.wire().getSerializedSize()).isLessThanOrEqualTo(ProtocolLimits.ASSIGNMENT_BYTES);
    }
}
