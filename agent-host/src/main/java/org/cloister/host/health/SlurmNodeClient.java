package org.cloister.host.health;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.cloister.slurm.FixedWidthRow;
import org.cloister.slurm.LogText;
import org.cloister.slurm.SlurmCommand;
import org.cloister.slurm.SlurmUnavailableException;

/** Client of Slurm's programs for one node. Every user may query; only root may drain and resume. */
public final class SlurmNodeClient implements NodeHealthMonitor.SlurmNodeQuery, NodeHealthMonitor.SlurmNodeCommands {
    private static final Pattern NODE = Pattern.compile("[A-Za-z0-9][A-Za-z0-9.-]{0,63}");
    private static final Pattern STATE = Pattern.compile("[a-z_]{1,40}(\\+[a-z_]{1,40}){0,12}");
    private static final int STATE_WIDTH = 200;
    /** Output width of the reason, wider than any of ours. */
    private static final int REASON_WIDTH = 400;
    /** Maximum of output lines, one for each partition. */
    private static final int MAX_LINES = 1000;

    private final SlurmCommand slurm;
    private final String node;

    /** @throws IllegalArgumentException if sinfo would not accept the name as one node's */
    public SlurmNodeClient(SlurmCommand slurm, String node) {
        if (!NODE.matcher(node).matches()) {
            throw new IllegalArgumentException("node: want " + NODE + ", have " + LogText.printable(node));
        }
        this.slurm = slurm;
        this.node = node;
    }

    /**
     * Reads the node's state. A reason that contains a newline was written by an administrator, and is read as empty.
     */
    @Override
    public SlurmNodeState readState() throws IOException {
        String output = slurm.succeed(
                "sinfo",
                List.of(
                        "-a",
                        "-h",
                        "-N",
                        "-n",
                        node,
                        "-O",
                        "StateComplete:" + STATE_WIDTH + "|,Reason:" + REASON_WIDTH + "|"));
        List<FixedWidthRow> lines = FixedWidthRow.of("sinfo", output, MAX_LINES);
        if (lines.isEmpty()) {
            throw new SlurmUnavailableException(
                    "sinfo: no partition has the node " + node + "; check slurm.node in agent-host.toml");
        }
        FixedWidthRow first = lines.get(0);
        String state = first.next(STATE_WIDTH);
        if (!STATE.matcher(state).matches()) {
            throw first.strange();
        }
        return new SlurmNodeState(new HashSet<>(Arrays.asList(state.split("\\+", -1))), reason(output));
    }

    private static String reason(String output) {
        Set<String> different = new HashSet<>(output.lines().toList());
        String line = output.lines().findFirst().orElse("");
        boolean isWhole = different.size() == 1 && line.length() == STATE_WIDTH + REASON_WIDTH + "||".length();
        return isWhole ? line.substring(STATE_WIDTH + 1, line.length() - 1).strip() : "";
    }

    @Override
    public void drain(DrainReason reason) throws IOException {
        if (readState().isOutOfService()) {
            throw new IOException(
                    "node " + node + " is not drained: somebody else has taken it out of service meanwhile");
        }
        update("state=drain", "reason=" + reason);
    }

    @Override
    public void resume(DrainReason reason) throws IOException {
        SlurmNodeState seen = readState();
        if (seen.isDown() || !seen.ours().equals(Optional.of(reason))) {
            throw new IOException(
                    "node " + node + " is not resumed: agent-host did not drain it; its state is " + seen);
        }
        update("state=resume");
    }

    @Override
    public void replaceReason(DrainReason reason) throws IOException {
        SlurmNodeState seen = readState();
        if (!seen.past().equals(Optional.of(reason))) {
            throw new IOException("node " + node + " keeps its reason: its state is " + seen);
        }
        update("reason=" + DrainReason.REPLACEMENT);
    }

    private void update(String... what) throws SlurmUnavailableException {
        List<String> arguments = new ArrayList<>(List.of("update", "nodename=" + node));
        arguments.addAll(List.of(what));
        slurm.succeed("scontrol", arguments);
    }
}
