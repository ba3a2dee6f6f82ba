package org.cloister.host.resources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.cloister.base.encoding.MalformedException;
import org.cloister.host.reconcile.HostResource;
import org.cloister.host.reconcile.ResourceKind;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.link.ProtocolLimits;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VmFoldersTest {
    private static final ResourceOwner OWNER = VmPlanSamples.OWNER;
    private static final ResourceOwner NEXT_RUN = new ResourceOwner(
            OWNER.project(), OWNER.ticket(), OWNER.slot(), OWNER.globalJob(), "1b7c3f5e-9f8a-4a53-8d0e-6a3b9a1d2c4f");

    private static final ResourceOwner OTHER_SLOT =
            new ResourceOwner(OWNER.project(), OWNER.ticket(), OWNER.slot() + 1, OWNER.globalJob(), OWNER.uuid());

    @TempDir
    private Path all;

    private VmFolders folders;
    private Path folder;

    @BeforeEach
    void begin() {
        folders = new VmFolders(all);
        folder = folders.folder(OWNER);
    }

    @Test
    void a_folder_is_its_vms_from_its_making_to_its_end() throws IOException {
        assertThat(folders.isFree(OWNER)).isTrue();
        VmPlan plan = VmPlanSamples.plain(OWNER);
        folders.make(plan, VmPlanSamples.assignment(OWNER));
        assertThat(folders.isFree(OWNER)).isFalse();
        assertThat(folders.plan(OWNER)).isEqualTo(plan);
        assertThat(folders.listResources()).containsExactly(resource(Optional.of(OWNER)));
        assertThatThrownBy(() -> folders.make(plan, VmPlanSamples.assignment(OWNER)))
                .isInstanceOf(FileAlreadyExistsException.class);

        Files.createDirectories(folder.resolve("tpm/state"));
        Files.writeString(folder.resolve("tpm/state/file"), "of swtpm");
        folders.remove(OWNER);
        assertThat(all).isEmptyDirectory();
        folders.remove(OWNER);
    }

    @Test
    void what_the_vm_is_told_is_kept_with_its_plan() throws IOException {
        AssignmentMessage.Assigned assignment = VmPlanSamples.assignment(OWNER);
        folders.make(VmPlanSamples.plain(OWNER), assignment);
        VmFolders next = new VmFolders(all);
        assertThat(next.assignment(OWNER)).contains(assignment);
        assertThatThrownBy(() -> next.assignment(NEXT_RUN)).hasMessageContaining("belongs to VM " + OWNER.uuid());

        Path file = folder.resolve("assignment");
        Files.write(
                file,
                new AssignmentMessage.Refused(AssignmentMessage.RefusalReason.BUSY)
                        .wire()
                        .toByteArray());
        assertThatThrownBy(() -> next.assignment(OWNER)).hasMessageContaining("expected an assignment");
        Files.write(file, new byte[ProtocolLimits.ASSIGNMENT_BYTES + 1]);
        assertThatThrownBy(() -> next.assignment(OWNER)).hasMessageContaining("expected an assignment");
        Files.write(file, new byte[] {10, 9});
        assertThatThrownBy(() -> next.assignment(OWNER)).isInstanceOf(MalformedException.class);
        Files.write(file, VmPlanSamples.assignment(OTHER_SLOT).wire().toByteArray());
        assertThatThrownBy(() -> next.assignment(OWNER)).hasMessageContaining("assignment: want that of");
    }

    @Test
    void a_folder_of_a_release_before_has_a_plan_and_no_assignment() throws IOException {
        folders.make(VmPlanSamples.plain(OWNER), VmPlanSamples.assignment(OWNER));
        Files.delete(folder.resolve("assignment"));
        assertThat(folders.plan(OWNER)).isEqualTo(VmPlanSamples.plain(OWNER));
        assertThat(folders.assignment(OWNER)).isEmpty();
    }

    @Test
    void anothers_assignment_makes_no_folder() {
        assertThatThrownBy(() -> folders.make(VmPlanSamples.plain(OWNER), VmPlanSamples.assignment(OTHER_SLOT)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(folders.isFree(OWNER)).isTrue();
    }

    @Test
    void what_lies_behind_a_link_stays() throws IOException {
        Path other = Files.createDirectory(all.resolve("other"));
        Files.writeString(other.resolve("file"), "of somebody else");
        folders.make(VmPlanSamples.plain(OWNER), VmPlanSamples.assignment(OWNER));
        Files.createSymbolicLink(folder.resolve("link"), other);
        folders.remove(OWNER);
        assertThat(folder).doesNotExist();
        assertThat(other.resolve("file")).exists();

        Files.createSymbolicLink(folder, other);
        assertThat(folders.isFree(OWNER)).isFalse();
        assertThat(folders.listResources()).isEmpty();
        folders.remove(OWNER);
        assertThat(other.resolve("file")).exists();
    }

    @Test
    void a_folder_without_a_plan_that_reads_is_nobodys() throws IOException {
        Files.createDirectory(folder);
        assertThat(folders.listResources()).containsExactly(resource(Optional.empty()));
        assertThatThrownBy(() -> folders.plan(OWNER)).isInstanceOf(NoSuchFileException.class);

        Files.writeString(folder.resolve("vm.json"), "{}");
        assertThat(folders.listResources()).containsExactly(resource(Optional.empty()));
        assertThatThrownBy(() -> folders.plan(OWNER)).hasMessageContaining("vm.json: format: missing");

        Files.write(folder.resolve("vm.json"), new byte[VmPlanJson.MAX_BYTES + 1]);
        assertThatThrownBy(() -> folders.plan(OWNER)).hasMessageContaining("have more");
        folders.remove(OWNER);
        assertThat(all).isEmptyDirectory();
    }

    @Test
    void another_life_of_the_same_slot_is_left_alone() throws IOException {
        folders.make(VmPlanSamples.plain(NEXT_RUN), VmPlanSamples.assignment(NEXT_RUN));
        assertThatThrownBy(() -> folders.remove(OWNER)).hasMessageContaining("it was not changed");
        assertThatThrownBy(() -> folders.plan(OWNER)).hasMessageContaining(NEXT_RUN.uuid());
        assertThat(folders.listResources()).containsExactly(resource(Optional.of(NEXT_RUN)));
    }

    @Test
    void what_is_not_called_as_ours_is_not_listed() throws IOException {
        Files.createDirectory(all.resolve("lost+found"));
        Files.writeString(all.resolve(OWNER.names().domain()), "a file");
        assertThat(folders.listResources()).isEmpty();
    }

    private static HostResource resource(Optional<ResourceOwner> owner) {
        return new HostResource(ResourceKind.OVERLAY, OWNER.names().domain(), owner, true);
    }
}
