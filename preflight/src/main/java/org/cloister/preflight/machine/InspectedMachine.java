package org.cloister.preflight.machine;

import java.util.List;
import java.util.Optional;

/**
 * What decisions about a machine are made from. Absent is an empty answer; what cannot be found out is an
 * {@link UndeterminedException}, and nothing here takes the one for the other.
 */
public interface InspectedMachine {
    /** The file's text, unpacked where the name ends in {@code .gz}; empty where there is no such file. */
    Optional<String> read(String path) throws UndeterminedException;

    /** The names in a folder, sorted; empty where there is no such folder. */
    Optional<List<String>> list(String folder) throws UndeterminedException;

    /** Where a program lies, in PATH or in the system's folders. */
    Optional<String> find(String program);

    /** Runs a program to its end, in bounded time; empty where there is no such program. */
    Optional<ProgramResult> run(List<String> words) throws UndeterminedException;

    /** Lays bytes down in a file of this process, for a program to read. */
    String writeTemporaryFile(String name, byte[] content) throws UndeterminedException;

    Optional<String> environment(String variable);

    /** What the Java runtime says of itself. */
    Optional<String> property(String name);

    default Optional<ProgramResult> run(String... words) throws UndeterminedException {
        return run(List.of(words));
    }

    default boolean isFolder(String folder) throws UndeterminedException {
        return list(folder).isPresent();
    }

    default Optional<String> firstWord(String path) throws UndeterminedException {
        return read(path).map(text -> text.strip().split("\\s+", 2)[0]);
    }
}
