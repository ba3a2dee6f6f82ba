package org.cloister.vm.controller.status;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.cloister.base.encoding.MalformedException;
import org.cloister.base.file.WorldReadableFile;
import org.cloister.vm.controller.slurm.LocalSlurmJobId;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Job statuses in one small file per job, in a folder on tmpfs that only root writes to and all may read: a status
 * contains no secret, and squeue shows more. Files of an earlier agent-vm process remain until {@link #retain} states
 * which are still valid.
 */
public final class JobStatusFiles implements JobStatusStore {
    private static final Logger LOG = LoggerFactory.getLogger(JobStatusFiles.class);
    private static final String SUFFIX = ".json";

    private final Path folder;
    private final InstantSource clock;
    private final Map<LocalSlurmJobId, JobStatusDocument> written = new HashMap<>();
    private boolean listed;

    /** @param folder created if absent; its parent must exist */
    public JobStatusFiles(Path folder, InstantSource clock) {
        this.folder = folder;
        this.clock = clock;
    }

    @Override
    public synchronized void set(LocalSlurmJobId job, JobStatus status) {
        JobStatusDocument known = written.get(job);
        if (known != null && known.status().equals(status)) {
            return;
        }
        JobStatus bounded = JobStatusDocument.fit(status);
        if (known != null && known.status().equals(bounded)) {
            return;
        }
        try {
            Optional<JobStatusDocument> last = last(job);
            Instant since = last.filter(each -> isSameWait(each.status(), bounded))
                    .map(JobStatusDocument::since)
                    .orElseGet(() -> clock.instant().truncatedTo(ChronoUnit.SECONDS));
            JobStatusDocument next = new JobStatusDocument(job, bounded, since);
            makeFolder();
            WorldReadableFile.replace(file(job), next.bytes());
            written.put(job, next);
        } catch (IOException e) {
            written.remove(job);
            LOG.warn("status of job {}: cannot be written to {}: {}; agentctl vm why does not show it", job, folder, e);
        }
    }

    @Override
    public synchronized void clear(LocalSlurmJobId job) {
        try {
            Files.deleteIfExists(file(job));
            written.remove(job);
        } catch (IOException e) {
            LOG.warn("status of job {}: cannot be deleted from {}: {}", job, folder, e.toString());
        }
    }

    @Override
    public synchronized void retain(Set<LocalSlurmJobId> jobs) {
        if (listed && jobs.containsAll(written.keySet())) {
            return;
        }
        Set<String> names = jobs.stream().map(job -> job.text() + SUFFIX).collect(Collectors.toSet());
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (!names.contains(file.getFileName().toString())) {
                    Files.deleteIfExists(file);
                }
            }
            written.keySet().retainAll(jobs);
            listed = true;
        } catch (NoSuchFileException e) {
            listed = true;
        } catch (IOException e) {
            LOG.warn("statuses in {}: outdated ones cannot be deleted: {}", folder, e.toString());
        }
    }

    private static boolean isSameWait(JobStatus one, JobStatus other) {
        return one.phase().equals(other.phase()) && one.waitsOn().equals(other.waitsOn());
    }

    /**
     * Returns the job's last status, of this process or an earlier one; empty if its file does not have the expected
     * format.
     */
    private Optional<JobStatusDocument> last(LocalSlurmJobId job) throws IOException {
        JobStatusDocument known = written.get(job);
        if (known != null) {
            return Optional.of(known);
        }
        try (InputStream in = Files.newInputStream(file(job), LinkOption.NOFOLLOW_LINKS)) {
            JobStatusDocument read = JobStatusDocument.parse(in.readNBytes(JobStatusDocument.MAX_BYTES + 1));
            return read.job().equals(job) ? Optional.of(read) : Optional.empty();
        } catch (NoSuchFileException | MalformedException e) {
            return Optional.empty();
        }
    }

    private void makeFolder() throws IOException {
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            Files.createDirectory(folder);
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        }
    }

    private Path file(LocalSlurmJobId job) {
        return folder.resolve(job.text() + SUFFIX);
    }
}
