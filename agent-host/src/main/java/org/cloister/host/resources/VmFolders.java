package org.cloister.host.resources;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.AtomicFile;
import org.cloister.host.reconcile.HostResource;
import org.cloister.host.reconcile.ResourceKind;
import org.cloister.host.vm.ResourceOwner;
import org.cloister.host.vm.VmResourceNames;
import org.cloister.protocol.handover.AssignmentMessage;
import org.cloister.protocol.link.ProtocolLimits;

/** Folders of VMs, each with its VM's plan, which also marks its owner, and its sockets. Any thread may call. */
public final class VmFolders {
    private static final String PLAN = "vm.json";
    /** File with the bytes of the assignment that the VM receives on request. */
    private static final String ASSIGNMENT = "assignment";
    /** Maximum of folders; a host has fewer VMs. */
    private static final int MAX_FOLDERS = 8192;
    /** Maximum of files of one VM, including folders; it has its plan, sockets and possibly a console. */
    private static final int MAX_FILES = 1000;

    private static final FileAttribute<?> PRIVATE_FOLDER =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    private final Path all;

    /**
     * @param all an existing folder that no other program writes to; not on the file system of scratch files, which VMs
     *     can fill
     */
    public VmFolders(Path all) {
        this.all = all;
    }

    /** Returns the path of a VM's folder, whether it exists or not. */
    public Path folder(ResourceOwner owner) {
        return owner.names().folder(all);
    }

    boolean isFree(ResourceOwner owner) {
        return !Files.exists(folder(owner), LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * Creates folder, plan and assignment, which are on disk when this returns. The plan is written last: where it
     * exists, so does the assignment.
     *
     * @throws IllegalArgumentException if the assignment belongs to another VM
     */
    void make(VmPlan plan, AssignmentMessage.Assigned assignment) throws IOException {
        requireSame(plan.owner(), assignment);
        Path folder = folder(plan.owner());
        Files.createDirectory(folder, PRIVATE_FOLDER);
        AtomicFile.create(folder.resolve(ASSIGNMENT), assignment.wire().toByteArray());
        AtomicFile.create(folder.resolve(PLAN), VmPlanJson.write(plan));
        AtomicFile.syncFolder(all);
    }

    /**
     * Returns the assignment that the VM receives.
     *
     * @return empty for a VM of a release that did not store it
     * @throws IOException if it cannot be read, or the folder belongs to another VM
     */
    public Optional<AssignmentMessage.Assigned> assignment(ResourceOwner owner) throws IOException {
        plan(owner);
        Path file = folder(owner).resolve(ASSIGNMENT);
        byte[] stored;
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            stored = in.readNBytes(ProtocolLimits.ASSIGNMENT_BYTES + 1);
        } catch (NoSuchFileException e) {
            return Optional.empty();
        }
        if (stored.length > ProtocolLimits.ASSIGNMENT_BYTES
                || !(AssignmentMessage.readResponse(stored) instanceof AssignmentMessage.Assigned assigned)) {
            throw new MalformedException(file + ": expected an assignment, got another message");
        }
        try {
            requireSame(owner, assigned);
        } catch (IllegalArgumentException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
        return Optional.of(assigned);
    }

    private static void requireSame(ResourceOwner owner, AssignmentMessage.Assigned assigned) {
        if (!assigned.ticket().equals(owner.ticket())
                || assigned.slot() != owner.slot()
                || !assigned.name().project().equals(owner.project())) {
            throw new IllegalArgumentException("assignment: want that of " + owner + ", have that of " + assigned.name()
                    + ", ticket " + assigned.ticket());
        }
    }

    /**
     * Returns a VM's plan.
     *
     * @throws NoSuchFileException if the folder or its plan does not exist
     */
    public VmPlan plan(ResourceOwner owner) throws IOException {
        VmPlan plan = read(folder(owner));
        if (!plan.owner().equals(owner)) {
            throw other(owner, plan.owner());
        }
        return plan;
    }

    /** Lists the folders; one whose plan cannot be read has no owner. */
    Set<HostResource> listResources() throws IOException {
        Set<HostResource> resources = new HashSet<>();
        for (Path each : list(all, MAX_FOLDERS)) {
            String name = each.getFileName().toString();
            if (VmResourceNames.isDomain(name) && Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS)) {
                resources.add(new HostResource(ResourceKind.OVERLAY, name, mark(each), true));
            }
        }
        return resources;
    }

    private static Optional<ResourceOwner> mark(Path folder) throws IOException {
        try {
            return Optional.of(read(folder).owner());
        } catch (NoSuchFileException | MalformedException e) {
            return Optional.empty();
        }
    }

    private static VmPlan read(Path folder) throws IOException {
        Path file = folder.resolve(PLAN);
        byte[] document;
        try (InputStream in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS)) {
            document = in.readNBytes(VmPlanJson.MAX_BYTES + 1);
        }
        try {
            return VmPlanJson.read(document);
        } catch (MalformedException e) {
            throw new MalformedException(file + ": " + e.getMessage(), e);
        }
    }

    /** Removes the folder, its plan last: it stays marked for as long as anything is left. No error if it is gone. */
    void remove(ResourceOwner owner) throws IOException {
        Path folder = folder(owner);
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Optional<ResourceOwner> mark = mark(folder);
        if (mark.isPresent() && !mark.get().equals(owner)) {
            throw other(owner, mark.get());
        }
        List<Path> inside = new ArrayList<>();
        collect(folder, inside);
        inside.remove(folder.resolve(PLAN));
        for (Path each : inside) {
            Files.deleteIfExists(each);
        }
        Files.deleteIfExists(folder.resolve(PLAN));
        Files.deleteIfExists(folder);
        AtomicFile.syncFolder(all);
    }

    /** Collects the files, deeper ones first. */
    private static void collect(Path folder, List<Path> inside) throws IOException {
        for (Path each : list(folder, MAX_FILES)) {
            if (Files.isDirectory(each, LinkOption.NOFOLLOW_LINKS)) {
                collect(each, inside);
            }
            inside.add(each);
            requireAtMost(folder, inside.size(), MAX_FILES);
        }
    }

    private static List<Path> list(Path folder, int max) throws IOException {
        List<Path> files = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
            for (Path file : stream) {
                files.add(file);
                requireAtMost(folder, files.size(), max);
            }
        } catch (DirectoryIteratorException e) {
            throw new IOException(folder + ": cannot be read: " + e.getMessage(), e);
        }
        return files;
    }

    private static void requireAtMost(Path folder, int count, int max) throws IOException {
        if (count > max) {
            throw new IOException(folder + " has more than " + max + " files; use it for this host's VMs only");
        }
    }

    private static IOException other(ResourceOwner owner, ResourceOwner other) {
        return new IOException("folder " + owner.names().domain() + " belongs to VM " + other.uuid() + " and not to VM "
                + owner.uuid() + "; it was not changed");
    }
}
