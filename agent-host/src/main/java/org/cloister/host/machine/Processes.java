package org.cloister.host.machine;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.host.domain.DomainView;
import org.cloister.host.step.NoStep;
import org.cloister.host.step.StepCgroup;
import org.cloister.host.step.StepGone;
import org.cloister.host.vm.VmOwner;
import org.cloister.slurm.Bounded;

/** Domains' processes, as libvirt writes them down; it tells them to nobody. */
public final class Processes {
    private static final Pattern PID = Pattern.compile("[1-9][0-9]{0,9}");
    private static final Path PROC = Path.of("/proc");

    private final Path folder;

    /** @param folder libvirt's, with a file NAME.pid of each domain: {@code /run/libvirt/qemu} */
    public Processes(Path folder) {
        this.folder = folder;
    }

    /** @return empty if libvirt has no domain of the name */
    OptionalLong pid(VmOwner owner) throws IOException {
        Path file = file(owner);
        String text;
        try {
            text = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
        } catch (NoSuchFileException e) {
            return OptionalLong.empty();
        }
        if (!PID.matcher(text).matches()) {
            throw new IOException(file + ": want a process, have " + Bounded.printable(text));
        }
        return OptionalLong.of(Long.parseLong(text));
    }

    boolean isFree(VmOwner owner) {
        return !Files.exists(file(owner));
    }

    boolean isThere(VmOwner owner) throws IOException {
        OptionalLong pid = pid(owner);
        return pid.isPresent() && isThere(pid.getAsLong());
    }

    /** UUIDs of those that lie, with all their threads, in a step of their owner's job; Slurm keeps one while it is not empty. */
    Set<String> inStep(List<DomainView> domains) throws IOException {
        Set<String> inStep = new HashSet<>();
        for (DomainView each : domains) {
            OptionalLong pid = pid(each.owner());
            if (pid.isPresent() && isInStep(each.owner(), pid.getAsLong())) {
                inStep.add(each.uuid());
            }
        }
        return inStep;
    }

    private static boolean isInStep(VmOwner owner, long pid) throws IOException {
        try {
            StepCgroup step = StepCgroup.of(pid);
            return step.job() == owner.globalJob() && step.has(pid);
        } catch (NoStep | StepGone e) {
            return false;
        } catch (IOException e) {
            if (isThere(pid)) {
                throw e;
            }
            return false;
        }
    }

    private static boolean isThere(long pid) {
        return Files.exists(PROC.resolve(Long.toString(pid)));
    }

    private Path file(VmOwner owner) {
        return folder.resolve(owner.name().domain() + ".pid");
    }
}
