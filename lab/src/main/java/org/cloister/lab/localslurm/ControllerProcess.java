package org.cloister.lab.localslurm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.cloister.lab.LabHome;
import org.cloister.lab.LabName;
import org.cloister.lab.relay.ChildProcess;

/** Controller of the Local Slurm as a child process, which ends with this process at the latest. */
public final class ControllerProcess implements AutoCloseable {
    static final String READY = "ready";

    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    private final LabHome home;
    private final LabName lab;
    private final Path folder;
    private final int quota;
    private ChildProcess program;

    private ControllerProcess(LabHome home, LabName lab, Path folder, int quota, ChildProcess program) {
        this.home = home;
        this.lab = lab;
        this.folder = folder;
        this.quota = quota;
        this.program = program;
    }

    static ControllerProcess start(LabHome home, LabName lab, Path folder, int quota) throws IOException {
        return new ControllerProcess(home, lab, folder, quota, run(home, lab, folder, quota));
    }

    /** Kills the controller with kill -9. */
    public void kill() throws IOException {
        program.kill();
    }

    /** Starts the controller again after {@link #kill}; it polls the queue when this returns. */
    public void restart() throws IOException {
        program = run(home, lab, folder, quota);
    }

    /** Returns the log of all controllers that were started in this fixture. */
    public Path log() {
        return folder.resolve(ControllerProgram.class.getSimpleName() + ".log");
    }

    @Override
    public void close() throws IOException {
        program.close();
    }

    private static ChildProcess run(LabHome home, LabName lab, Path folder, int quota) throws IOException {
        ChildProcess program =
                ChildProcess.java(ControllerProgram.class, Files.createDirectories(folder), home.root(), lab, quota);
        program.await(READY, START_LIMIT);
        return program;
    }
}
