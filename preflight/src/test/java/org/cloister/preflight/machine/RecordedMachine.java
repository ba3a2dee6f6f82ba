package org.cloister.preflight.machine;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A machine that answers what was recorded of a real one; what was not recorded is absent there. One entry a
 * paragraph: {@code file PATH} and {@code folder PATH} with {@code |} before each line, {@code run WORDS} with
 * {@code <} before what it printed, {@code !} before its errors and {@code = STATUS}, {@code program NAME},
 * {@code environment NAME VALUE}, {@code property NAME VALUE}, {@code unknown PATH-OR-WORDS}.
 */
public final class RecordedMachine implements InspectedMachine {
    private final Map<String, String> files = new HashMap<>();
    private final Map<String, List<String>> folders = new HashMap<>();
    private final Map<String, ProgramResult> runs = new HashMap<>();
    private final Map<String, String> programs = new HashMap<>();
    private final Map<String, String> environment = new HashMap<>();
    private final Map<String, String> properties = new HashMap<>();
    private final List<String> unknown = new ArrayList<>();

    public static RecordedMachine parse(String recording) {
        RecordedMachine machine = new RecordedMachine();
        for (String entry : recording.split("\\n(?=[a-z])", -1)) {
            machine.add(entry.lines().filter(line -> !line.isEmpty()).toList());
        }
        return machine;
    }

    private void add(List<String> lines) {
        String[] head = lines.get(0).split(" ", 2);
        switch (head[0]) {
            case "file" -> files.put(head[1], after(lines, "|"));
            case "folder" -> folders.put(head[1], after(lines, "|").lines().toList());
            case "run" -> {
                String status = after(lines, "=").strip();
                runs.put(
                        head[1],
                        new ProgramResult(
                                status.isEmpty() ? 0 : Integer.parseInt(status), after(lines, "<"), after(lines, "!")));
                programs.putIfAbsent(head[1].split(" ", 2)[0], head[1].split(" ", 2)[0]);
            }
            case "program" -> programs.put(head[1], "/usr/bin/" + head[1]);
            case "environment" -> environment.put(head[1].split(" ", 2)[0], head[1].split(" ", 2)[1]);
            case "property" -> properties.put(head[1].split(" ", 2)[0], head[1].split(" ", 2)[1]);
            case "unknown" -> unknown.add(head[1]);
            default -> throw new IllegalArgumentException("recording: unknown entry \"" + lines.get(0) + "\"");
        }
    }

    private static String after(List<String> lines, String mark) {
        StringBuilder text = new StringBuilder();
        lines.stream()
                .skip(1)
                .filter(line -> line.startsWith(mark))
                .forEach(line -> text.append(line.replaceFirst("^.( |$)", "")).append('\n'));
        return text.toString();
    }

    private void requireKnown(String subject) throws UndeterminedException {
        if (unknown.contains(subject)) {
            String program = subject.split(" ", 2)[0];
            throw new ProgramTimeoutException(
                    program + " gave no answer within "
                            + LiveMachine.timeout(program).toSeconds() + " s",
                    subject);
        }
    }

    @Override
    public Optional<String> read(String path) throws UndeterminedException {
        requireKnown(path);
        return Optional.ofNullable(files.get(path));
    }

    @Override
    public Optional<List<String>> list(String folder) throws UndeterminedException {
        requireKnown(folder);
        return Optional.ofNullable(folders.get(folder));
    }

    @Override
    public Optional<String> find(String program) {
        return Optional.ofNullable(programs.get(program));
    }

    @Override
    public Optional<ProgramResult> run(List<String> arguments) throws UndeterminedException {
        requireKnown(String.join(" ", arguments));
        return Optional.ofNullable(runs.get(String.join(" ", arguments)));
    }

    @Override
    public String writeTemporaryFile(String name, byte[] content) {
        return "/scratch/" + name;
    }

    @Override
    public Optional<String> environment(String variable) {
        return Optional.ofNullable(environment.get(variable));
    }

    @Override
    public Optional<String> property(String name) {
        return Optional.ofNullable(properties.get(name));
    }
}
