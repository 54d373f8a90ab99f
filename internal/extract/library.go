package extract

import (
	"strings"
	"sync"
)

// Library reports a name of a language's own library or of a widespread API. A model
// knows those; it needs to be told the names of the project.
func Library(name string) bool { return library()[name] }

var library = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(`
ReadFile WriteFile MkdirAll MkdirTemp CreateTemp RemoveAll ReadAll ReadDir ReadLine Getenv Setenv Getwd UserHomeDir LookupEnv Stdout Stderr IsNotExist IsExist
Printf Println Sprintf Sprintln Fprintf Fprintln Errorf Fatalf TempDir Helper Parallel Cleanup TrimSpace TrimPrefix TrimSuffix HasPrefix HasSuffix Contains ContainsAny ContainsFunc
ReplaceAll Replace ToLower ToUpper SplitN EqualFold IndexByte LastIndex Builder WriteString WriteByte WriteRune NewReader NewWriter NewScanner NewReplacer NewBuffer NewDecoder NewEncoder
Unmarshal MarshalIndent RawMessage SetIndent Itoa ParseInt ParseFloat ParseBool FormatInt Duration Millisecond Microsecond Nanosecond WithTimeout WithCancel WithValue Background CommandContext CombinedOutput
StdoutPipe StderrPipe ExitError LookPath FileMode FileInfo WalkDir EvalSymlinks IsAbs SortFunc SortStableFunc BinarySearch IndexFunc DeleteFunc MustCompile FindString FindAllString FindStringSubmatch MatchString
ListenAndServe HandleFunc HandlerFunc ResponseWriter NewRequest StatusOK StatusNotFound WaitGroup RWMutex RLock RUnlock OnceValue OnceFunc StringVar BoolVar IntVar StringP BoolP RunE PersistentFlags AddCommand
readFileSync writeFileSync existsSync mkdirSync readdirSync statSync appendFileSync unlinkSync rmSync createReadStream createWriteStream execSync spawnSync execFile readFile writeFile mkdtemp
JSON stringify parseInt parseFloat toString toLowerCase toUpperCase indexOf lastIndexOf includes startsWith endsWith forEach findIndex flatMap reduce hasOwnProperty getOwnPropertyNames fromEntries toISOString
addEventListener removeEventListener querySelector querySelectorAll getElementById createElement appendChild innerHTML textContent className classList setAttribute getAttribute preventDefault stopPropagation
setTimeout clearTimeout setInterval clearInterval requestAnimationFrame localStorage sessionStorage useState useEffect useMemo useCallback useRef useContext useReducer forwardRef onClick onChange onSubmit children
beforeEach afterEach beforeAll afterAll toBeDefined toEqual toHaveBeenCalled toHaveBeenCalledWith toThrow toMatchObject mockReturnValue mockResolvedValue mockImplementation getByText getByRole
console require module exports process stdout stderr default undefined Promise allSettled TypeError SyntaxError ReferenceError RangeError Uint8Array ArrayBuffer TextEncoder TextDecoder encodeURIComponent decodeURIComponent
isinstance enumerate startswith endswith splitlines iteritems setdefault defaultdict namedtuple dataclass dataclasses staticmethod classmethod property NotImplementedError ValueError TypeError KeyError AttributeError ImportError RuntimeError FileNotFoundError
subprocess check_output check_call capture_output returncode makedirs listdir exists isfile isdir dirname basename abspath expanduser getcwd read_text write_text iterdir is_file is_dir load_dotenv argparse ArgumentParser add_argument parse_args
setUp tearDown assertEqual assertTrue assertFalse assertRaises assertIn pytest fixture parametrize monkeypatch tmp_path capsys logging getLogger basicConfig strftime strptime datetime timedelta
unwrap unwrap_or unwrap_or_else as_str to_string to_owned into_iter collect HashMap HashSet BTreeMap PathBuf read_to_string create_dir_all derive
System StringBuilder ArrayList LinkedList Collectors toList getClass equals hashCode NullPointerException IllegalArgumentException IllegalStateException
headRefName baseRefName headRefOid statusCheckRollup mergeable mergeStateStatus isDraft createdAt updatedAt closedAt mergedAt reviewDecision databaseId displayTitle workflowName
node_modules
Content-Type Authorization application/json text/html user_agent access_token refresh_token tool_uses total_tokens duration_ms tool_use_id input_tokens output_tokens`) {
		out[name] = true
	}
	return out
})
