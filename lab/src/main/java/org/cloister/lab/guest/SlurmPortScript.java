package org.cloister.lab.guest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.cloister.base.address.Ipv4Address;
import org.cloister.base.address.Ipv4Network;
import org.cloister.base.process.ProcessRunner;
import org.cloister.lab.Poll;
import org.cloister.vm.rpcfilter.FilterStateFile;
import org.cloister.vm.rpcfilter.RpcFilterMain;
import org.cloister.vm.system.network.SlurmctldRedirectTable;

/**
 * Sends a worker's messages through the kernel's tunnel to slurmctld's port, with the filter before it and a program in
 * slurmctld's place that reports who called.
 */
final class SlurmPortScript {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int PREFIX = 24;
    /** Headers alone, as 22.05 sends them: REQUEST_JOB_INFO and REQUEST_TRIGGER_SET. */
    private static final String QUESTION = "\\0\\0\\0\\016\\046\\0\\0\\0\\007\\323\\0\\0\\0\\0\\0\\0\\0\\0";

    private static final String TRIGGER = "\\0\\0\\0\\016\\046\\0\\0\\0\\007\\341\\0\\0\\0\\0\\0\\0\\0\\0";

    private final ProcessRunner here;
    private final ProcessRunner there;
    private final Ipv4Address controller;
    private final Path state = Path.of("/run/slurm-filter-state");

    SlurmPortScript(ProcessRunner here, ProcessRunner there, Ipv4Address controller) {
        this.here = here;
        this.there = there;
        this.controller = controller;
    }

    /** @return the worker's answers: to a request, to a refused request, and to a request without a filter */
    List<String> run(Ipv4Network network) throws IOException {
        new SlurmctldRedirectTable(controller, network, 0).install(here);
        Files.write(state, new byte[0]);
        start("perl", "-MIO::Socket::INET", "-e", """
                my $s = IO::Socket::INET->new(LocalAddr => '%s:%d', Listen => 5, ReuseAddr => 1) or die;
                while (my $c = $s->accept) { sysread($c, my $b, 18); print $c 'asked by ' . $c->peerhost; close $c }
                """.formatted(controller, RpcFilterMain.SLURMCTLD_PORT));
        start(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx16m",
                "-Djava.net.preferIPv4Stack=true",
                "-cp",
                System.getProperty("java.class.path"),
                RpcFilterMain.class.getName(),
                controller + "/" + PREFIX,
                "22.05",
                state.toString());
        FilterStateFile filter = new FilterStateFile(state);
        Poll.until("the filter", LIMIT, "read /run/begun.log", filter::isRunning);
        String answered = query(QUESTION);
        String refused = query(TRIGGER);
        // The process that was started last.
        here.runChecked(
                "kill", "-9", Files.readString(Path.of("/run/begun.pid")).strip());
        Poll.until("the filter's end", LIMIT, "read /run/begun.log", () -> !filter.isRunning());
        return List.of(answered, refused, query(QUESTION));
    }

    private void start(String... argv) throws IOException {
        List<String> whole = new ArrayList<>(
                List.of("sh", "-c", "exec setsid --fork sh -c \"$0\" \"$@\" >>/run/begun.log 2>&1 </dev/null"));
        whole.add("echo $$ >/run/begun.pid; exec \"$0\" \"$@\"");
        whole.addAll(List.of(argv));
        here.runChecked("", whole);
    }

    private String query(String message) throws IOException {
        ProcessRunner.Output output = there.run(
                "bash",
                "-c",
                "exec 3<>/dev/tcp/%s/%d && printf '%s' >&3 && timeout 20 cat <&3"
                        .formatted(controller, RpcFilterMain.SLURMCTLD_PORT, message));
        return "port " + (output.out().isEmpty() ? "says nothing" : output.out());
    }
}
