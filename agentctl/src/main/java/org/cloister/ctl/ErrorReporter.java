package org.cloister.ctl;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.List;
import java.util.Locale;
import org.cloister.ctl.output.TextTable;
import org.cloister.preflight.machine.UndeterminedException;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Prints why a command failed: the error on one line and the remedy on another. */
final class ErrorReporter implements IParameterExceptionHandler, IExecutionExceptionHandler {
    private final CommandRoot root;

    ErrorReporter(CommandRoot root) {
        this.root = root;
    }

    @Override
    public int handleParseException(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        String name = command.getCommandSpec().qualifiedName();
        PrintWriter err = command.getErr();
        print(err, "error", lowerFirst(firstLine(e)));
        print(err, "hint", suggestion(e, name));
        return ExitCode.USAGE.code();
    }

    @Override
    public int handleExecutionException(Exception e, CommandLine command, ParseResult parsed) {
        PrintWriter err = command.getErr();
        if (root.debug()) {
            e.printStackTrace(err);
        }
        if (e instanceof UndeterminedException unknown) {
            print(err, "error", unknown.reason());
            print(err, "hint", unknown.remedy());
            return ExitCode.FAILURE.code();
        }
        if (e instanceof IOException io) {
            print(err, "error", text(io));
            return ExitCode.FAILURE.code();
        }
        print(err, "error", "internal: " + e);
        print(err, "hint", "run it again with --debug and report what it prints");
        return ExitCode.INTERNAL.code();
    }

    private static String text(IOException e) {
        if (e instanceof NoSuchFileException) {
            return e.getMessage() + ": no such file";
        }
        if (e instanceof AccessDeniedException) {
            return e.getMessage() + ": permission denied";
        }
        return String.valueOf(e.getMessage());
    }

    private static String suggestion(ParameterException e, String name) {
        if (e instanceof UnmatchedArgumentException unmatched) {
            List<String> suggestions = unmatched.getSuggestions();
            if (!suggestions.isEmpty()) {
                return "did you mean " + String.join(" or ", suggestions) + "?";
            }
        }
        return name + " --help lists its options and arguments";
    }

    private static String firstLine(ParameterException e) {
        String line = String.valueOf(e.getMessage()).lines().findFirst().orElse("wrong command line");
        // picocli begins errors about mutually exclusive options with this word.
        return line.startsWith("Error: ") ? line.substring("Error: ".length()) : line;
    }

    private static String lowerFirst(String text) {
        return text.isEmpty() ? text : text.substring(0, 1).toLowerCase(Locale.ROOT) + text.substring(1);
    }

    private static void print(PrintWriter err, String kind, String text) {
        err.println("agentctl: " + kind + ": " + TextTable.escapeControls(text));
        err.flush();
    }
}
