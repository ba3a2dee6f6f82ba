package org.cloister.ovs;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Explains the switch's handling of a frame. {@code ovs-appctl ofproto/trace BRIDGE FLOW} lists the flows, and the
 * cookies of our flows state the reasons.
 *
 * @param steps one sentence a table
 * @param passes whether anything of the frame leaves the bridge
 */
public record FrameTrace(List<String> steps, boolean passes) {
    private static final Pattern RULE =
            Pattern.compile("\\s*(\\d+)\\. (?:(.*?), )?priority (\\d+)(?:, cookie 0x([0-9a-f]+))?\\s*");
    private static final Pattern ACTIONS = Pattern.compile("Datapath actions: (.*)");

    public FrameTrace {
        steps = List.copyOf(steps);
    }

    /** @param output all that {@code ofproto/trace} printed */
    public static FrameTrace of(String output) {
        List<String> steps = new ArrayList<>();
        boolean passes = false;
        for (String line : output.split("\n", -1)) {
            Matcher rule = RULE.matcher(line);
            Matcher actions = ACTIONS.matcher(line);
            if (rule.matches()) {
                steps.add(step(rule));
            } else if (actions.matches()) {
                passes = !actions.group(1).equals("drop");
                steps.add(passes ? "it leaves by datapath actions " + actions.group(1) : "nothing of it leaves");
            }
        }
        return new FrameTrace(steps, passes);
    }

    private static String step(Matcher rule) {
        String place = switch (Integer.parseInt(rule.group(1))) {
            case FlowPipeline.PORT -> "port it comes from";
            case FlowPipeline.MACHINE -> "machine that sends it";
            case FlowPipeline.UPLINK -> "host that sends it";
            case FlowPipeline.TARGET -> "machine it is for";
            default -> "table " + rule.group(1) + ", which is not ours";
        };
        String cookie = rule.group(4);
        String text = DropReason.of(cookie == null ? 0 : Long.parseUnsignedLong(cookie, 16))
                .map(reason -> "the frame " + reason.words())
                .orElse("a flow that is not ours");
        return place + ": " + text + (rule.group(2) == null ? "" : " (" + rule.group(2) + ")");
    }
}
