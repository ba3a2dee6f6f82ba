package org.cloister.host.daemon;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Pattern;
import org.cloister.host.health.DrainReason;
import org.cloister.host.health.NodeHealthMonitor;
import org.cloister.host.slurmstep.CgroupAttacher;
import org.cloister.host.slurmstep.JobStepEnded;
import org.cloister.host.slurmstep.NotInJobStep;
import org.cloister.host.slurmstep.TicketJobs;
import org.cloister.slurm.LogText;
import org.cloister.slurm.SlurmUnavailableException;

/**
 * Client of agent-host-root's socket: one connection, one request line and one response line for each request. A
 * request contains no path and no process but the caller's; agent-host-root finds and checks the rest itself.
 */
public final class AgentHostRootClient implements CgroupAttacher, TicketJobs, NodeHealthMonitor.SlurmNodeCommands {
    private static final int MAX_ANSWER = 1024;
    private static final Pattern NUMBER = Pattern.compile("ok [1-9][0-9]{0,17}");

    private final Path socket;
    private final Duration limit;

    /** @param limit time limit of each request; longer than the script's own limit for Slurm's commands */
    public AgentHostRootClient(Path socket, Duration limit) {
        this.socket = socket;
        this.limit = limit;
    }

    /** Requests the move of a domain's process. The script determines that process and the caller's cgroups itself. */
    @Override
    public void attach(String domain, long pid, long caller, List<Path> folders) throws IOException {
        ask("take " + domain + " " + caller);
    }

    @Override
    public boolean isTicketJob(long job, String ticket) throws IOException {
        String answer = answer("ticket " + job + " " + ticket);
        if (answer.equals("ok") || answer.startsWith("refused ")) {
            return answer.equals("ok");
        }
        throw unknown(answer);
    }

    @Override
    public long numberOf(String sluid) throws IOException {
        String answer = answer("number " + sluid);
        if (NUMBER.matcher(answer).matches()) {
            return Long.parseLong(answer.substring("ok ".length()));
        }
        if (answer.startsWith("refused ")) {
            throw new NotInJobStep(
                    LogText.printable(answer.substring("refused ".length())),
                    "only jobs that agent-relay submits may run VMs");
        }
        throw unknown(answer);
    }

    private static SlurmUnavailableException unknown(String answer) {
        return new SlurmUnavailableException(
                "agent-host-root: " + (answer.isEmpty() ? "no answer" : LogText.printable(answer)));
    }

    @Override
    public void drain(DrainReason reason) throws IOException {
        ask("drain " + reason);
    }

    @Override
    public void resume(DrainReason reason) throws IOException {
        ask("resume " + reason);
    }

    @Override
    public void replaceReason(DrainReason reason) throws IOException {
        ask("replace " + reason);
    }

    private void ask(String request) throws IOException {
        String answer = answer(request);
        if (answer.equals("ok")) {
            return;
        }
        if (answer.startsWith("gone ")) {
            throw new JobStepEnded(LogText.printable(answer.substring("gone ".length())));
        }
        throw new IOException("agent-host-root: " + request + " failed: "
                + (answer.isEmpty() ? "no answer" : LogText.printable(answer)) + "; see the journal of its service");
    }

    private String answer(String request) throws IOException {
        long deadline = System.nanoTime() + limit.toNanos();
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX);
                Selector selector = Selector.open()) {
            channel.configureBlocking(false);
            channel.connect(UnixDomainSocketAddress.of(socket));
            ByteBuffer line = ByteBuffer.wrap((request + "\n").getBytes(StandardCharsets.US_ASCII));
            // A socket that nothing was written to accepts a whole line.
            if (channel.write(line) == 0 || line.hasRemaining()) {
                throw new IOException("it accepted only " + line.position() + " bytes of the request");
            }
            channel.shutdownOutput();
            channel.register(selector, SelectionKey.OP_READ);
            ByteBuffer buffer = ByteBuffer.allocate(MAX_ANSWER);
            while (buffer.hasRemaining()) {
                long leftMs = (deadline - System.nanoTime()) / 1_000_000;
                if (leftMs <= 0) {
                    throw new IOException("no answer within " + limit.toSeconds() + " s");
                }
                selector.select(leftMs);
                selector.selectedKeys().clear();
                if (channel.read(buffer) < 0) {
                    break;
                }
            }
            return new String(buffer.array(), 0, buffer.position(), StandardCharsets.ISO_8859_1).strip();
        } catch (IOException e) {
            throw new IOException(
                    "agent-host-root at " + socket + ": " + e.getMessage()
                            + "; run systemctl status agent-host-root.socket",
                    e);
        }
    }
}
