package org.cloister.host.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.cloister.host.ledger.Part;
import org.cloister.host.ledger.Thing;
import org.cloister.host.vm.VmOwner;
import org.cloister.protocol.MalformedException;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.link.LinkLimits;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VmFoldersTest {
    private static final VmOwner OWNER = PlanSamples.OWNER;
    private static final VmOwner NEXT_LIFE = new VmOwner(
            OWNER.project(), OWNER.ticket(), OWNER.slot(), OWNER.globalJob(), "1b7c3f5e-9f8a-4a53-8d0e-6a3b9a1d2c4f");

    private static final VmOwner OTHER_SLOT =
            new VmOwner(OWNER.project(), OWNER.ticket(), OWNER.slot() + 1, OWNER.globalJob(), OWNER.uuid());

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
        VmPlan plan = PlanSamples.plain(OWNER);
        folders.make(plan, PlanSamples.assignment(OWNER));
        assertThat(folders.isFree(OWNER)).isFalse();
        assertThat(folders.plan(OWNER)).isEqualTo(plan);
        assertThat(folders.things()).containsExactly(thing(Optional.of(OWNER)));
        assertThatThrownBy(() -> folders.make(plan, PlanSamples.assignment(OWNER)))
                .isInstanceOf(FileAlreadyExistsException.class);

        Files.createDirectories(folder.resolve("tpm/state"));
        Files.writeString(folder.resolve("tpm/state/file"), "of swtpm");
        folders.remove(OWNER);
        assertThat(all).isEmptyDirectory();
        folders.remove(OWNER);
    }

    @Test
    void what_the_vm_is_told_is_kept_with_its_plan() throws IOException {
        AssignmentMessage.Told told = PlanSamples.assignment(OWNER);
        folders.make(PlanSamples.plain(OWNER), told);
        VmFolders next = new VmFolders(all);
        assertThat(next.assignment(OWNER)).contains(told);
        assertThatThrownBy(() -> next.assignment(NEXT_LIFE)).hasMessageContaining("have VM " + OWNER.uuid());

        Path file = folder.resolve("assignment");
        Files.write(
                file,
                new AssignmentMessage.Refused(AssignmentMessage.Why.BUSY).wire().toByteArray());
        assertThatThrownBy(() -> next.assignment(OWNER)).hasMessageContaining("want an assignment");
        Files.write(file, new byte[LinkLimits.ASSIGNMENT_BYTES + 1]);
        assertThatThrownBy(() -> next.assignment(OWNER)).hasMessageContaining("want an assignment");
        Files.write(file, new byte[] {10, 9});
        assertThatThrownBy(() -> next.assignment(OWNER)).isInstanceOf(MalformedException.class);
        Files.write(file, PlanSamples.assignment(OTHER_SLOT).wire().toByteArray());
        assertThatThrownBy(() -> next.assignment(OWNER)).hasMessageContaining("assignment: want that of");
    }

    @Test
    void a_folder_of_a_release_before_has_a_plan_and_no_assignment() throws IOException {
        folders.make(PlanSamples.plain(OWNER), PlanSamples.assignment(OWNER));
        Files.delete(folder.resolve("assignment"));
        assertThat(folders.plan(OWNER)).isEqualTo(PlanSamples.plain(OWNER));
        assertThat(folders.assignment(OWNER)).isEmpty();
    }

    @Test
    void anothers_assignment_makes_no_folder() {
        assertThatThrownBy(() -> folders.make(PlanSamples.plain(OWNER), PlanSamples.assignment(OTHER_SLOT)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(folders.isFree(OWNER)).isTrue();
    }

    @Test
    void what_lies_behind_a_link_stays() throws IOException {
        Path other = Files.createDirectory(all.resolve("other"));
        Files.writeString(other.resolve("file"), "of somebody else");
        folders.make(PlanSamples.plain(OWNER), PlanSamples.assignment(OWNER));
        Files.createSymbolicLink(folder.resolve("link"), other);
        folders.remove(OWNER);
        assertThat(folder).doesNotExist();
        assertThat(other.resolve("file")).exists();

        Files.createSymbolicLink(folder, other);
        assertThat(folders.isFree(OWNER)).isFalse();
        assertThat(folders.things()).isEmpty();
        folders.remove(OWNER);
        assertThat(other.resolve("file")).exists();
    }

    @Test
    void a_folder_without_a_plan_that_reads_is_nobodys() throws IOException {
        Files.createDirectory(folder);
        assertThat(folders.things()).containsExactly(thing(Optional.empty()));
        assertThatThrownBy(() -> folders.plan(OWNER)).isInstanceOf(NoSuchFileException.class);

        Files.writeString(folder.resolve("vm.json"), "{}");
        assertThat(folders.things()).containsExactly(thing(Optional.empty()));
        assertThatThrownBy(() -> folders.plan(OWNER)).hasMessageContaining("vm.json: format: missing");

        Files.write(folder.resolve("vm.json"), new byte[PlanDocument.MAX_BYTES + 1]);
        assertThatThrownBy(() -> folders.plan(OWNER)).hasMessageContaining("have more");
        folders.remove(OWNER);
        assertThat(all).isEmptyDirectory();
    }

    @Test
    void another_life_of_the_same_slot_is_left_alone() throws IOException {
        folders.make(PlanSamples.plain(NEXT_LIFE), PlanSamples.assignment(NEXT_LIFE));
        assertThatThrownBy(() -> folders.remove(OWNER)).hasMessageContaining("it was left as it is");
        assertThatThrownBy(() -> folders.plan(OWNER)).hasMessageContaining(NEXT_LIFE.uuid());
        assertThat(folders.things()).containsExactly(thing(Optional.of(NEXT_LIFE)));
    }

    @Test
    void what_is_not_called_as_ours_is_not_listed() throws IOException {
        Files.createDirectory(all.resolve("lost+found"));
        Files.writeString(all.resolve(OWNER.name().domain()), "a file");
        assertThat(folders.things()).isEmpty();
    }

    private static Thing thing(Optional<VmOwner> owner) {
        return new Thing(Part.OVERLAY, OWNER.name().domain(), owner, true);
    }
}
