package org.cloister.vm.controller.ssh;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.cloister.base.process.ProcessRunner;

/** Runs sessions as children of this process: on machines without systemd. */
public record ChildSshdLauncher(ProcessRunner programs, Path script, Path folder) implements SshdLauncher {
    @Override
    public Streams start() throws IOException {
        ProcessBuilder builder = new ProcessBuilder(
                        programs.argv(List.of("/bin/sh", script.toString(), folder.toString())))
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().clear();
        builder.environment().putAll(Map.of("PATH", "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL", "C"));
        Process process = builder.start();
        return new Streams(process.getInputStream(), process.getOutputStream());
    }
}
