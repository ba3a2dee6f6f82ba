package org.cloister.lab.guide;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.cloister.lab.guide.GuideStep.Carried;
import org.cloister.lab.guide.GuideStep.MachineCommands;
import org.cloister.lab.guide.GuideStep.PlacedFile;
import org.cloister.lab.guide.GuideStep.Settings;

/**
 * Compute hosts of a site. A guide names the first of them, and its readers do the same on each.
 *
 * @param names of all, h1 first
 */
record GuideHosts(List<String> names) {
    private static final Pattern FIRST = Pattern.compile("\\bh1\\b");

    static boolean isOne(String machine) {
        return machine.matches("h[1-9]");
    }

    /** Returns a text of the guide as it is for another host than the first. */
    static String on(String host, String text) {
        return FIRST.matcher(text).replaceAll(host);
    }

    /** Returns a guide's steps as its readers carry them out on this site. */
    List<GuideStep> steps(List<GuideStep> steps) {
        return steps.stream().flatMap(this::onEach).toList();
    }

    private Stream<GuideStep> onEach(GuideStep step) {
        if (step instanceof MachineCommands commands && commands.machines().contains(names.get(0))) {
            List<String> machines = new ArrayList<>(commands.machines());
            machines.addAll(names.subList(1, names.size()));
            return Stream.of(new MachineCommands(commands.line(), machines, commands.repeated(), commands.script()));
        }
        return names.stream().map(host -> of(step, host)).distinct();
    }

    private static GuideStep of(GuideStep step, String host) {
        if (step instanceof MachineCommands commands) {
            return new MachineCommands(
                    commands.line(), commands.machines(), commands.repeated(), on(host, commands.script()));
        } else if (step instanceof Settings settings) {
            return new Settings(settings.line(), on(host, settings.machine()), settings.name(), settings.keys());
        } else if (step instanceof Carried carried) {
            return new Carried(
                    carried.line(),
                    of(carried.from(), host),
                    carried.to().stream().map(to -> of(to, host)).toList());
        }
        return step;
    }

    private static PlacedFile of(PlacedFile file, String host) {
        return new PlacedFile(on(host, file.place()), on(host, file.name()));
    }
}
