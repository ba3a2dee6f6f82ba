package org.cloister.host.resources;

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
import org.cloister.host.domain.ObservedDomain;
import org.cloister.host.slurmstep.CgroupAttacher;
import org.cloister.host.slurmstep.JobNumbers;
import org.cloister.host.slurmstep.NotInJobStep;
import org.cloister.host.slurmstep.StepCgroup;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.slurm.LogText;

/** Processes of domains, from the files that libvirt writes; its API does not report them. */
public final class DomainProcesses {
    private static final Pattern PID = Pattern.compile("[1-9][0-9]{0,9}");
    private static final Path PROC = Path.of("/proc");

    private final Path folder;
    private final CgroupAttacher attacher;
    private final JobNumbers numbers;

    /**
     * @param folder libvirt's, with a file NAME.pid for each domain: {@code /run/libvirt/qemu}
     * @param attacher moves processes into job steps
     * @param numbers of jobs whose cgroups have other names
     */
    public DomainProcesses(Path folder, CgroupAttacher attacher, JobNumbers numbers) {
        this.folder = folder;
        this.attacher = attacher;
        this.numbers = numbers;
    }

    /**
     * Returns the process id of a VM's domain.
     *
     * @return empty if libvirt has no domain of the name
     */
    OptionalLong pid(ResourceOwner owner) throws IOException {
        Path file = file(owner);
        String text;
        try {
            text = Files.readString(file, StandardCharsets.ISO_8859_1).strip();
        } catch (NoSuchFileException e) {
            return OptionalLong.empty();
        }
        if (!PID.matcher(text).matches()) {
            throw new IOException(file + ": expected a process id, got " + LogText.printable(text));
        }
        return OptionalLong.of(Long.parseLong(text));
    }

    /**
     * Moves a domain's process into a step.
     *
     * @throws IOException if the domain has no process, or the process is not completely in the step afterwards
     */
    void enter(StepCgroup step, ResourceOwner owner) throws IOException {
        step.attach(attacher, owner.names().domain(), running(owner));
    }

    /**
     * Returns the process id of a running domain.
     *
     * @throws IOException if libvirt has no domain of the name
     */
    long running(ResourceOwner owner) throws IOException {
        return pid(owner)
                .orElseThrow(() -> new IOException("VM " + owner.uuid() + ": its domain "
                        + owner.names().domain() + " has no process; libvirt's log of the domain shows why"));
    }

    boolean isFree(ResourceOwner owner) {
        return !Files.exists(file(owner));
    }

    /**
     * Returns the UUIDs of domains that are in a step of their owner's job, with all their threads and in each of the
     * step's hierarchies. Slurm keeps a step for as long as it is not empty. A domain whose process has just ended is
     * included, since nothing of it is elsewhere: libvirt is about to report that it is gone, and why.
     */
    Set<String> inStep(List<ObservedDomain> domains) throws IOException {
        Set<String> inStep = new HashSet<>();
        for (ObservedDomain each : domains) {
            OptionalLong pid = pid(each.owner());
            if (pid.isPresent() && isInStep(each.owner(), pid.getAsLong())) {
                inStep.add(each.uuid());
            }
        }
        return inStep;
    }

    private boolean isInStep(ResourceOwner owner, long pid) throws IOException {
        try {
            StepCgroup step = StepCgroup.of(pid, numbers);
            return step.job() == owner.globalJob() && step.isInEveryHierarchy() && step.contains(pid);
        } catch (NotInJobStep e) {
            return false;
        } catch (IOException e) {
            if (Files.exists(PROC.resolve(Long.toString(pid)))) {
                throw e;
            }
            return true;
        }
    }

    private Path file(ResourceOwner owner) {
        return folder.resolve(owner.names().domain() + ".pid");
    }
}
