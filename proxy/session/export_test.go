package session

// AnswerVariables are the variables that the server is asked for behind what may have set them unseen.
var AnswerVariables = answerVariables
